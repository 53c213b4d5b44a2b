import configparser
import csv
import io
import json
import tomllib

rows = [{"name": "web", "port": 80}, {"name": "db", "port": 5432}]
out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["name", "port"], lineterminator="\n")
writer.writeheader()
writer.writerows(rows)
ini = configparser.ConfigParser()
for row in rows:
    ini[row["name"]] = {"port": str(row["port"])}
text = io.StringIO()
ini.write(text)
toml = "".join(f'[{row["name"]}]\nport = {row["port"]}\n' for row in rows)
print(out.getvalue().splitlines(), ini.sections(), tomllib.loads(toml) == {r["name"]: {"port": r["port"]} for r in rows})
print(json.dumps(rows, separators=(",", ":")))
