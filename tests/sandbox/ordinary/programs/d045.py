from string import Template

letter = Template("Dear $name,\nyour order #$order of $$${amount} is on its way.\n")
for row in ({"name": "Ann", "order": 17, "amount": "9.50"}, {"name": "Bob", "order": 18, "amount": "120.00"}):
    print(letter.substitute(row))
print(letter.safe_substitute(name="Cy").splitlines()[1])
print("{:>10}|{:^10}|{:<10}|{:+.2e}|{:,}|{:08.3f}|{:%}".format("a", "b", "c", 12345.678, 1234567, 3.14159, 0.256))
