from sqlalchemy import CheckConstraint, Integer, String, create_engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, declarative_base, mapped_column, sessionmaker

Base = declarative_base()


class Account(Base):
    __tablename__ = "account"
    name = mapped_column(String, primary_key=True)
    balance = mapped_column(Integer, nullable=False)
    __table_args__ = (CheckConstraint("balance >= 0", name="positive"),)


engine = create_engine("sqlite:///bank.sqlite3")
Base.metadata.create_all(engine)
Local = sessionmaker(engine)

with Local.begin() as s:
    s.add_all([Account(name="alice", balance=100), Account(name="bob", balance=20)])


def transfer(src, dst, amount):
    try:
        with Local.begin() as s:
            s.get(Account, dst).balance += amount
            s.get(Account, src).balance -= amount
        return "ok"
    except IntegrityError as exc:
        return f"rolled back ({type(exc.orig).__name__})"


print("50:", transfer("alice", "bob", 50))
print("80:", transfer("alice", "bob", 80))
with Local() as s:
    print({a.name: a.balance for a in s.query(Account).order_by(Account.name)})
