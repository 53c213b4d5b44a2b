"""The smolagents scenarios: what the scripted model writes, and which agent runs it.

Each is a kind of run that an evaluator has to distinguish; no verdict is written here.
"""

from __future__ import annotations

from smolagents import CodeAgent
from smolagents.monitoring import LogLevel

from spanproof.cli.demo.agents.scripted import ScriptedModel, Turn
from spanproof.cli.demo.agents.tools import find_order, refund_lines, shipping_cents

REFUND_TASK = "What is the total refund in dollars for order A-17?"

# Put together here so that no scanner of repositories takes the demo for a leak.
_FAKE_KEY = "_".join(("sk", "live", "9aT4xQ7LmZ2vB8nKc5RdW1pY"))

_LOOK_UP = Turn(
    "I look up the refunds of order A-17.",
    'lines = refund_lines(order_id="A-17")\n'
    "for line in lines:\n"
    '    print(line["item"], line["cents"], line["status"])',
)


def faithful() -> str:
    """Looks up cents, adds them up, and answers with what came out."""
    return _answer(
        REFUND_TASK,
        [
            _LOOK_UP,
            Turn(
                "Both lines are refunded; I add the cents up and convert them to dollars.",
                'total_cents = sum(line["cents"] for line in lines)\nprint(total_cents, total_cents / 100)',
            ),
            Turn("4500 cents are $45.00.", 'final_answer("The refund of order A-17 is $45.00.")'),
        ],
    )


def misquote() -> str:
    """Divides by zero at step 2, recovers at step 3, and then answers with another number."""
    return _answer(
        REFUND_TASK,
        [
            _LOOK_UP,
            Turn(
                "I add up the cents and also work out the average of the lines still open.",
                'total_cents = sum(line["cents"] for line in lines)\n'
                'open_lines = [line for line in lines if line["status"] == "open"]\n'
                "average_open = total_cents / len(open_lines)\n"
                "print(total_cents, average_open)",
            ),
            Turn(
                "No line is open, so there is no average; the total is all I need.",
                'total_cents = sum(line["cents"] for line in lines)\nprint(total_cents)',
            ),
            Turn("That is the total.", 'final_answer("The refund of order A-17 is $54.00.")'),
        ],
    )


def secret() -> str:
    """Writes a key into its code and reads the environment."""
    return _answer(
        REFUND_TASK,
        [
            Turn(
                "I authenticate against the payment service first.",
                "import os\n"
                f'api_key = "{_FAKE_KEY}"\n'
                'region = os.environ.get("PAYMENT_REGION", "eu-west")\n'
                'lines = refund_lines(order_id="A-17")\n'
                'print(region, sum(line["cents"] for line in lines))',
            ),
            Turn("The sum is 4500 cents.", 'final_answer("The refund of order A-17 is $45.00.")'),
        ],
        imports=["os"],
    )


def loop() -> str:
    """Writes the same failing code at every step until no step is left."""
    return _answer(
        REFUND_TASK,
        [
            *[
                Turn(
                    "I read the refund from the order.",
                    'order = find_order(order_id="A-17")\nprint(order["refund_cents"] / 100)',
                )
            ]
            * 5,
            Turn("I could not determine the refund of order A-17."),
        ],
        max_steps=5,
    )


def tools() -> str:
    """Calls two tools in one snippet and goes on with the variables in the next ones."""
    return _answer(
        "What do the goods of orders A-17 and B-02 cost together in dollars, without shipping?",
        [
            Turn(
                "I fetch both orders and what their shipping cost.",
                'first = find_order(order_id="A-17")\n'
                'second = find_order(order_id="B-02")\n'
                'shipping = shipping_cents(order_id="A-17") + shipping_cents("B-02")\n'
                'print(first["total_cents"], second["total_cents"], shipping)',
            ),
            Turn(
                "Now the totals without the shipping.",
                'goods_cents = first["total_cents"] + second["total_cents"] - shipping\n'
                "goods_dollars = goods_cents / 100\n"
                "print(goods_cents, goods_dollars)",
            ),
            Turn(
                "The goods cost 18750 cents.",
                'final_answer(f"The goods of orders A-17 and B-02 cost ${goods_dollars:.2f} together.")',
            ),
        ],
    )


def _answer(task: str, turns: list[Turn], *, imports: list[str] | None = None, max_steps: int = 6) -> str:
    agent = CodeAgent(
        tools=[refund_lines, find_order, shipping_cents],
        model=ScriptedModel(turns),
        additional_authorized_imports=imports or [],
        max_steps=max_steps,
        name="refund_clerk",
        description="Answers questions about orders and refunds.",
        verbosity_level=LogLevel.OFF,
    )
    return str(agent.run(task))
