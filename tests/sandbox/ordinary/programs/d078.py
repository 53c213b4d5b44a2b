import array
import collections
import timeit

numbers = array.array("i", range(10))
numbers.extend([10, 11])
print(numbers.itemsize, sum(numbers), numbers[2:5].tolist(), numbers.tobytes()[:8])
chain = collections.ChainMap({"color": "red"}, {"color": "blue", "size": 3})
print(chain["color"], chain["size"], dict(collections.Counter("mississippi") - collections.Counter("miss")))
print(timeit.timeit("sum(range(100))", number=100) > 0)
