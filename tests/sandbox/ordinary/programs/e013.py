rates = {"EUR": 1.0, "USD": 1.08, "GBP": 0.85, "JPY": 161.5}


def convert(amount, source, target):
    return round(amount / rates[source] * rates[target], 2)


print(convert(100, "EUR", "USD"), convert(50, "GBP", "EUR"), convert(10_000, "JPY", "GBP"))
