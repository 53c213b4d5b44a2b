stock = {"apple": 5, "pear": 0, "fig": 12}
try:
    print(stock["plum"])
except KeyError as error:
    print("no", error)
finally:
    print("checked")
print({**stock, "plum": 3} | {"fig": 11}, [k for k, v in stock.items() if not v], stock.pop("pear"), stock.setdefault("kiwi", 1))
