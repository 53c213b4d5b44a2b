class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __iter__(self):
        return iter((self.x, self.y))

    def __repr__(self):
        return f"<{self.x}, {self.y}>"


print(Vector(1, 2) + 3 * Vector(0, 1), tuple(Vector(4, 5)), len({Vector(1, 1), Vector(1, 1)}))
try:
    Vector(1, 2).z = 3
except AttributeError as error:
    print("no attribute z" if "z" in str(error) else error)
