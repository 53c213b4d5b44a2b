from enum import Enum, Flag, auto


class Color(Enum):
    RED = "#f00"
    BLUE = "#00f"

    @classmethod
    def parse(cls, text):
        return cls[text.upper()]


class Right(Flag):
    READ = auto()
    WRITE = auto()
    ALL = READ | WRITE


print(Color.parse("red").value, list(Color), Right.READ in Right.ALL, Right.ALL & ~Right.READ)
match Color("#00f"):
    case Color.BLUE:
        print("blue it is")
