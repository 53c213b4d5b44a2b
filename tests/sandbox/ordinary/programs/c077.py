from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
class Base(DeclarativeBase): pass
class Team(Base):
    __tablename__ = "team"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    people: Mapped[list["Person"]] = relationship(back_populates="team")
class Person(Base):
    __tablename__ = "person"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id"))
    team: Mapped[Team] = relationship(back_populates="people")
e = create_engine("sqlite://")
Base.metadata.create_all(e)
with Session(e) as s:
    s.add(Team(name="red", people=[Person(name="ann"), Person(name="bob")]))
    s.commit()
    print([p.name for p in s.scalars(select(Person).join(Team).where(Team.name == "red"))])
