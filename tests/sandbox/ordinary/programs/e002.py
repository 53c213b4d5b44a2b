def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


for a, b in [(48, 36), (17, 5), (100, 75)]:
    print(f"{a}/{b} = {a // gcd(a, b)}/{b // gcd(a, b)}")
