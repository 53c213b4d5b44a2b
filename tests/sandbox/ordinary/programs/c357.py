import csv, io, statistics as st
rows = list(csv.DictReader(io.StringIO("name,score\nann,90\nbob,72\ncy,85\n"))); s = [int(r["score"]) for r in rows]
print(st.mean(s), st.median(s), round(st.stdev(s), 2), max(rows, key=lambda r: int(r["score"]))["name"])
