#!/usr/bin/env bash
cat > queries.sql <<'END'
create table sales (day text, amount real);
insert into sales values ('mon', 10.5), ('tue', 20), ('mon', 4.5);
END
python3 - <<'END'
import sqlite3
db = sqlite3.connect("sales.db")
db.executescript(open("queries.sql").read())
db.commit()
for row in db.execute("select day, sum(amount) from sales group by day order by day"):
    print(*row, sep="|")
END
[ -s sales.db ] && head -c 15 sales.db && echo
