def averager():
    total, count = 0, 0
    try:
        value = None
        while True:
            try:
                x = yield value
            except ValueError as exc:
                print("  skipped:", exc)
                continue
            total += x
            count += 1
            value = total / count
    finally:
        print("  finally after", count, "values")


gen = averager()
next(gen)
for x in (10, 20, 60):
    print(gen.send(x))
gen.throw(ValueError("bad reading"))
print(gen.send(30))
gen.close()


def chain(*parts):
    for part in parts:
        yield from part


left_open = averager()
next(left_open)
print(left_open.send(5))
print(list(chain("ab", [1, 2], range(3))))
