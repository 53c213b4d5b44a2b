from dataclasses import asdict, dataclass, field, replace, FrozenInstanceError
from enum import Enum, auto


class Suit(Enum):
    CLUBS = auto()
    HEARTS = auto()


@dataclass(order=True, frozen=True)
class Card:
    rank: int
    suit: Suit = field(compare=False, default=Suit.CLUBS)


@dataclass
class Deck:
    owner: str
    cards: list[Card] = field(default_factory=list)

    def __post_init__(self):
        self.cards.sort(reverse=True)


deck = Deck("Eve", [Card(3), Card(11, Suit.HEARTS), Card(7)])
print(deck)
print([c.rank for c in deck.cards], max(deck.cards))
print(asdict(replace(deck, owner="Mallory"))["owner"])
try:
    deck.cards[0].rank = 2
except FrozenInstanceError as exc:
    print("frozen:", exc)
print(Card(5) == Card(5, Suit.HEARTS), [s.name for s in Suit])
