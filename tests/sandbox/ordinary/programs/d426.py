# Marks of a school, kept in a small database with a view and a trigger.
import sqlite3

db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
db.executescript("""
create table mark (pupil text, subject text, points int check (points between 0 and 100));
create table log (entry text);
create view average as select pupil, avg(points) as points from mark group by pupil;
create trigger logged after insert on mark begin insert into log values (new.pupil || ':' || new.points); end;
""")
db.executemany("insert into mark values (?, ?, ?)", [("ann", "art", 80), ("ann", "math", 90), ("bo", "art", 60)])
for row in db.execute("select * from average order by points desc"):
    print(row["pupil"], row["points"])
try:
    db.execute("insert into mark values ('cy', 'art', 101)")
except sqlite3.IntegrityError as error:
    print(error)
print([entry for (entry,) in db.execute("select entry from log").fetchall()])
db.create_function("initial", 1, lambda name: name[0].upper())
print([tuple(row) for row in db.execute("select distinct initial(pupil) from mark")])
