from sqlalchemy import ForeignKey, String, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50), unique=True)
    books: Mapped[list["Book"]] = relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "books"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    year: Mapped[int]
    author_id: Mapped[int] = mapped_column(ForeignKey("authors.id"))
    author: Mapped[Author] = relationship(back_populates="books")


engine = create_engine("sqlite:///:memory:")
Base.metadata.create_all(engine)
with Session(engine) as s:
    s.add(Author(name="Le Guin", books=[Book(title="The Dispossessed", year=1974), Book(title="Lathe of Heaven", year=1971)]))
    s.add(Author(name="Lem", books=[Book(title="Solaris", year=1961)]))
    s.commit()
    for b in s.scalars(select(Book).join(Author).order_by(Book.year)):
        print(b.year, b.title, "-", b.author.name)
    print(s.execute(select(Author.name, func.count(Book.id)).join(Book).group_by(Author.name).order_by(Author.name)).all())
