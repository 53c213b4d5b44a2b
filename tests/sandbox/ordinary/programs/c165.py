import unittest, doctest
class T(unittest.TestCase):
    def test_a(self):
        with self.subTest(1): self.assertAlmostEqual(0.1 + 0.2, 0.3)
    @unittest.skip("x")
    def test_b(self): pass
r = unittest.TextTestRunner(stream=open("log.txt", "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(T)); print(r.testsRun, len(r.skipped))
