import duckdb
open("p.csv", "w").write("name;price\nbolt;0,10\nnut;0,05\n")
print(duckdb.read_csv("p.csv", sep=";", decimal=",").fetchall())
print(duckdb.sql("select * from sniff_csv('p.csv')").fetchall()[0][0])
