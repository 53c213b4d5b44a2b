with open("poem.txt", "w", encoding="utf-8") as out:
    out.write("Rosen sind rot,\nVeilchen sind blau,\nZucker ist süß.\n")
with open("poem.txt", encoding="utf-8") as lines:
    for number, line in enumerate(lines, 1):
        print(f"{number:02d} {line.rstrip()} ({len(line.split())} words)")
with open("poem.txt", "rb") as raw:
    raw.seek(-6, 2)
    print(raw.read(), raw.tell())
