from sqlalchemy import Column, ForeignKey, Table, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload


class Base(DeclarativeBase):
    pass


post_tag = Table("post_tag", Base.metadata,
                 Column("post_id", ForeignKey("post.id"), primary_key=True),
                 Column("tag_id", ForeignKey("tag.id"), primary_key=True))


class Post(Base):
    __tablename__ = "post"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    tags: Mapped[list["Tag"]] = relationship(secondary=post_tag, back_populates="posts", order_by="Tag.name")


class Tag(Base):
    __tablename__ = "tag"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    posts: Mapped[list[Post]] = relationship(secondary=post_tag, back_populates="tags", order_by="Post.title")


engine = create_engine("sqlite+pysqlite:///:memory:", echo=False)
Base.metadata.create_all(engine)
with Session(engine) as s:
    t = {n: Tag(name=n) for n in ("python", "sql", "tips")}
    s.add_all([Post(title="Intro", tags=[t["python"]]), Post(title="Joins", tags=[t["sql"], t["tips"]]),
               Post(title="ORM", tags=[t["python"], t["sql"]])])
    s.commit()
    for p in s.scalars(select(Post).options(selectinload(Post.tags)).order_by(Post.title)):
        print(p.title, [x.name for x in p.tags])
    print("sql posts:", [p.title for p in s.scalar(select(Tag).where(Tag.name == "sql")).posts])
