import unittest


def fizzbuzz(n):
    return "fizz" * (n % 3 == 0) + "buzz" * (n % 5 == 0) or str(n)


class FizzBuzzTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(fizzbuzz(7), "7")

    def test_both(self):
        self.assertEqual(fizzbuzz(30), "fizzbuzz")


suite = unittest.defaultTestLoader.loadTestsFromTestCase(FizzBuzzTest)
result = unittest.TestResult()
suite.run(result)
print(result.testsRun, "tests", len(result.failures), "failures", " ".join(map(fizzbuzz, range(1, 16))))
