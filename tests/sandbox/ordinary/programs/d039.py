import bisect

scores = [33, 99, 77, 70, 89, 90, 100]
print([("FDCBA")[bisect.bisect([60, 70, 80, 90], score)] for score in scores])
ordered = []
for score in scores:
    bisect.insort(ordered, score)
print(ordered, bisect.bisect_left(ordered, 89))
