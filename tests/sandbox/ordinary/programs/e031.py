lines = ["3", "x", "4.5", "", "1e3", "0x10"]
total = 0.0
for line in lines:
    try:
        total += float(line)
    except ValueError as error:
        print("skipped:", error)
    else:
        print("added", line)
print(total)
