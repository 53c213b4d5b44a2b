from sqlalchemy import ForeignKey, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    books: Mapped[list["Book"]] = relationship(back_populates="author")


class Book(Base):
    __tablename__ = "book"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    author_id: Mapped[int] = mapped_column(ForeignKey("author.id"))
    author: Mapped[Author] = relationship(back_populates="books")


engine = create_engine("sqlite:///books.db")
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add(Author(name="Austen", books=[Book(title="Emma"), Book(title="Persuasion")]))
    session.add(Author(name="Joyce", books=[Book(title="Ulysses")]))
    session.commit()
    query = select(Author.name, func.count(Book.id)).join(Book).group_by(Author.name).order_by(Author.name)
    print(session.execute(query).all())
    print(session.scalars(select(Book).where(Book.title.like("E%"))).one().author.name)
