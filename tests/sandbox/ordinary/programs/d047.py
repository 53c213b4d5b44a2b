from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    def __lt__(self, other):
        return self.area() < other.area()


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return 3.14159 * self.radius**2


print([f"{type(s).__name__} {s.area():.2f}" for s in sorted([Circle(2), Square(3), Circle(1)])])
try:
    Shape()
except TypeError as error:
    print("abstract" in str(error))
