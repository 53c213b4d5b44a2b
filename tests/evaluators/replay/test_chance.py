from __future__ import annotations

import pytest

from spanproof.evaluators.replay.chance import Chance
from spanproof.evaluators.replay.names import read_names
from spanproof.evaluators.replay.uses import read_uses


def followed(*sources, pinned=False):
    chance, aliases, found = Chance(pinned), {}, []
    for source in sources:
        uses, aliases = read_uses(source, aliases)
        found.append(chance.handle_snippet(source, read_names(source), uses))
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os\nprint(os.environ['HOME'])", "os.environ"),
        ("import os\nprint(os.path.exists('a'))", "os.path.exists"),
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now"),
        ("import numpy as np\nnp.random.rand()", "numpy.random.rand"),
        ("import uuid\nuuid.uuid4()", "uuid.uuid4"),
        ("id(x)", "id()"),
    ],
)
def test_surroundings_and_chance_are_seen(source, expected):
    assert followed(source) == [f"it depends on {expected}, which no replay gives again"]


@pytest.mark.parametrize(
    "source",
    [
        "import os\nprint(os.path.join('a', 'b'), os.sep)",
        "import os, time, random",
        "from datetime import datetime\ndatetime(2024, 1, 1)",
        "import random\nrandom.seed(1)\nrandom.random()",
        "import math\nmath.sqrt(2)",
        "random = 3",
        "not python at all (",
    ],
)
def test_what_repeats_is_not_called_chance(source):
    assert followed(source) == [None]


def test_a_variable_carries_it_to_the_next_snippet_until_it_is_bound_anew():
    assert followed("import time\nt = time.time()", "print(t)", "t = 1", "print(t)") == [
        "it depends on time.time, which no replay gives again",
        "it depends on time.time, which no replay gives again",
        None,
        None,
    ]


def test_an_untouched_variable_stays_comparable():
    assert followed("import time\nt = time.time()", "print(x)")[1] is None


def test_a_seed_in_an_earlier_snippet_holds():
    assert followed("import random\nrandom.seed(3)", "random.random()") == [None, None]


def test_a_package_of_an_unknown_version_is_reported_until_it_is_pinned():
    sources = (
        "import pandas as pd\nd = pd.DataFrame({'a': [1]})",
        "print(d)",
        "import json\nprint(json.dumps(1))",
    )
    unpinned = "it uses pandas, whose version the fixtures do not pin"
    assert followed(*sources) == [unpinned, unpinned, None]
    assert followed(*sources, pinned=True) == [None, None, None]
