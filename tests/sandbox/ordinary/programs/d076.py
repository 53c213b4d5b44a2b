import csv

with open("people.csv", "w", newline="", encoding="utf-8-sig") as out:
    writer = csv.writer(out, delimiter=";", quoting=csv.QUOTE_MINIMAL)
    writer.writerows([["name", "note"], ["Müller", 'said "hi"'], ["Lee", "a;b"], ["Kim", "two\nlines"]])
raw = open("people.csv", "rb").read()
print(raw[:3], raw.count(b"\r\n"))
with open("people.csv", newline="", encoding="utf-8-sig") as lines:
    dialect = csv.Sniffer().sniff(lines.read(20), delimiters=";,")
    lines.seek(0)
    for row in csv.reader(lines, dialect):
        print(row)
