from sqlalchemy import create_engine, text
e = create_engine("sqlite:///a.db")
with e.begin() as c:
    c.execute(text("create table u (id integer primary key, name text)"))
    c.execute(text("insert into u (name) values (:n)"), [{"n": "ann"}, {"n": "bob"}])
with e.connect() as c:
    print(c.execute(text("select * from u")).all())
