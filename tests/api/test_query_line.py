"""A query line is short for parameters; what cannot be read in it is named; a command lists the same."""

from __future__ import annotations

import pytest

from spanproof.api.query_line import format_list_command, parse_query_line


@pytest.mark.parametrize(
    ("line", "parameters"),
    [
        ("", []),
        ("label:fail layer:groundedness", [("failing", "true"), ("layer", "groundedness")]),
        ("state:open", [("state", "open")]),
        ("since:30m", [("hours", "0.5")]),
        ("since:366d", [("hours", "8784")]),
        ("latency>2.5s tokens>=1000", [("min_seconds", "2.5"), ("min_tokens", "1000")]),
        ("cost>0.1$", [("min_cost_usd", "0.1")]),
        ('agent:"pricing agent"', [("where", "agent=pricing agent")]),
        ("session:chat/17 user:ada", [("where", "session=chat/17"), ("where", "user=ada")]),
        ('attribute:tenant.id="a \\"b\\" \\\\ c"', [("where", 'attribute:tenant.id=a "b" \\ c')]),
        ('attribute:"tenant.id=a b"', [("where", "attribute:tenant.id=a b")]),
        ('"box of tea" 54.00', [("text", "box of tea"), ("text", "54.00")]),
        ("colour:red", [("text", "colour:red")]),
        ('an "open phrase', [("text", "an"), ("text", "open"), ("text", "phrase")]),
    ],
)  # fmt: skip
def test_a_line_is_short_for_parameters(line, parameters):
    assert list(parse_query_line(line)) == parameters


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("state:red", "state:red names no state"),
        ("since:soon", "since:soon is no time; write since:30m"),
        ("layer:boundary", "add label:fail or a state"),
        ("attribute:tenant.id", "write attribute:KEY=VALUE"),
        ("attribute:=acme", "write attribute:KEY=VALUE"),
    ],
)
def test_what_cannot_be_read_is_named(line, fault):
    with pytest.raises(ValueError, match=fault):
        parse_query_line(line)


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("label:fail layer:boundary since:24h", " --failing --since 24h --layer boundary"),
        ("since:30m", " --since 30m"),
        ('"it\'s red" agent:shop', " --text 'it'\"'\"'s red' --where agent=shop"),
    ],
)
def test_the_command_lists_the_same(line, options):
    assert format_list_command(parse_query_line(line)) == f"spanproof traces{options}"
