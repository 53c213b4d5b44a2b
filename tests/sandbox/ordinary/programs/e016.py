import csv

rows = [["city", "population"], ["Lyon", 522], ["Nice", 342], ["Brest", 140]]
with open("cities.csv", "w", newline="") as out:
    csv.writer(out).writerows(rows)
with open("cities.csv", newline="") as data:
    cities = list(csv.DictReader(data))
print(sum(int(c["population"]) for c in cities), max(cities, key=lambda c: int(c["population"]))["city"])
