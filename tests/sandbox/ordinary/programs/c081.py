from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError
e = create_engine("sqlite://")
with e.connect() as c:
    c.execute(text("create table t (a int unique)")); c.execute(text("insert into t values (1)"))
    try:
        c.execute(text("insert into t values (1)"))
    except IntegrityError as err:
        print(err.orig)
