from itertools import accumulate, chain, combinations, product, zip_longest

print(list(accumulate([5, -2, 7])), list(chain("ab", [1])), list(combinations("abc", 2)))
print(len(list(product(range(3), repeat=4))), list(zip_longest([1, 2], "x", fillvalue="-")))
