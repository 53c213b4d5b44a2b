"""What must not leave the process does not, whichever way it is named and wherever it is."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.instrumentors import (
    ContentPolicy,
    Redaction,
    instrument_langchain,
    instrument_smolagents,
    uninstrument,
)
from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.redaction import find_redactor, parse_path
from spanproof.instrumentors.content.serialise import encode_value

from .coders import ScriptedChatModel, coder
from .graphs import calls

_SECRET = "DE89370400440532013000"
_HIDDEN = "[redacted]"


def written(value, **options):
    return json.loads(encode_value(value, 100_000, find_redactor(Redaction(**options), "input.value")).text)


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("$.order.iban", {"order": {"iban": _HIDDEN, "lines": [{"iban": 2}, 3]}, "iban": 4}),
        ("$.order.lines[*].iban", {"order": {"iban": 1, "lines": [{"iban": _HIDDEN}, 3]}, "iban": 4}),
        ("$.order.lines[1]", {"order": {"iban": 1, "lines": [{"iban": 2}, _HIDDEN]}, "iban": 4}),
        ("$..iban", {"order": {"iban": _HIDDEN, "lines": [{"iban": _HIDDEN}, 3]}, "iban": _HIDDEN}),
        ("$..lines..iban", {"order": {"iban": 1, "lines": [{"iban": _HIDDEN}, 3]}, "iban": 4}),
        ("$['order']", {"order": _HIDDEN, "iban": 4}),
        ('$["order"].*', {"order": {"iban": _HIDDEN, "lines": _HIDDEN}, "iban": 4}),
        ("$", _HIDDEN),
        ("$.nowhere", {"order": {"iban": 1, "lines": [{"iban": 2}, 3]}, "iban": 4}),
    ],
)  # fmt: skip
def test_a_path_keeps_back_what_it_names_and_nothing_else(path, left):
    document = {"order": {"iban": 1, "lines": [{"iban": 2}, 3]}, "iban": 4}
    assert written(document, paths=[path]) == left


@pytest.mark.parametrize(
    "path", ["", "order", "$order", "$.", "$[-1]", "$[1:2]", "$[?(@.a)]", "$..", "$.a b", "$['a"]
)
def test_a_path_that_is_not_understood_is_refused_with_its_place(path):
    with pytest.raises(ValueError, match=r"not understood from character \d+; write it like \$\.order\.card"):
        Redaction(paths=[path])


def test_one_path_alone_is_no_sequence():
    with pytest.raises(TypeError, match="give a sequence"):
        Redaction(paths="$.a")


def test_a_text_that_is_a_document_is_looked_into():
    assert json.loads(written(json.dumps({"iban": _SECRET, "n": 1}), keys=["iban"])) == {
        "iban": _HIDDEN,
        "n": 1,
    }
    assert json.loads(written({"body": json.dumps([{"iban": _SECRET}])}, paths=["$[*].iban"])["body"]) == [
        {"iban": _HIDDEN}
    ]
    assert written("{not json", keys=["iban"]) == "{not json"
    assert written("[" * 100_000, keys=["iban"]) == _HIDDEN


def test_an_object_that_shows_no_members_is_kept_back_whole():
    class Account:
        def __repr__(self):
            return f"Account(iban={_SECRET})"

    assert written({"account": Account()}, keys=["iban"]) == {"account": _HIDDEN}
    assert written({"account": Account()}, patterns=["x"]) == {"account": f"Account(iban={_SECRET})"}


def test_a_key_is_known_by_its_own_name_whatever_is_written_of_it():
    assert written({"iban of Ada": _SECRET}, patterns=["Ada"], keys=["iban of Ada"]) == {
        f"iban of {_HIDDEN}": _HIDDEN
    }


def test_redactions_may_differ_by_field():
    policy = ContentPolicy(
        redaction=[
            Redaction(patterns=["A-17"], fields=["input.value"], replacement="[order]"),
            Redaction(keys=["iban"]),
        ]
    )
    content = Content(policy)
    content.input({"order": "A-17", "iban": _SECRET})
    content.output({"order": "A-17", "iban": _SECRET})
    reported = content.finished()
    assert json.loads(reported["input.value"])["order"] == "[order]"
    assert json.loads(reported["output.value"])["order"] == "A-17"
    assert _SECRET not in str(reported)


@pytest.mark.parametrize(
    "redaction",
    [
        Redaction(patterns=[_SECRET]),
        Redaction(function=lambda text: text.replace(_SECRET, "…")),
    ],
    ids=["pattern", "function"],
)
def test_a_secret_text_is_nowhere_on_a_run(recorded, redaction):
    uninstrument()
    instrument_smolagents(recorded.provider, content=ContentPolicy(redaction=redaction))
    coder(
        f"print('{_SECRET}')",
        f"raise ValueError('{_SECRET}')",
        f"echo(value={{'deep': ['{_SECRET}'], 'key {_SECRET}': 1}})",
        f"cents_of('missing {_SECRET}')",
        f"final_answer('{_SECRET} is it')",
    ).run(_SECRET, additional_args={"key": _SECRET})
    assert recorded.spans
    for span in recorded.spans:
        assert _SECRET not in span.to_json()


@pytest.mark.parametrize(
    "redaction", [Redaction(paths=["$.account.iban"]), Redaction(keys=["IBAN"])], ids=["path", "key"]
)
def test_a_secret_member_is_nowhere_in_arguments_results_and_messages(recorded, redaction):
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool

    @tool
    def pay(account: dict) -> dict:
        """Pays."""
        return {"account": account}

    uninstrument()
    instrument_langchain(recorded.provider, content=ContentPolicy(redaction=redaction))
    requests = calls(("pay", {"account": {"iban": _SECRET, "name": "Ada"}}))
    model = ScriptedChatModel(answers=[requests])
    answer = model.invoke([HumanMessage("Pay.")])
    model.invoke([HumanMessage("Pay."), answer, pay.invoke(answer.tool_calls[0])])
    pay.invoke({"account": {"iban": _SECRET, "name": "Ada"}})
    assert len(recorded.spans) == 4
    for span in recorded.spans:
        assert _SECRET not in span.to_json(), span.name
    assert "Ada" in recorded.spans[-1].attributes["gen_ai.tool.call.arguments"]


_names = st.sampled_from(["a", "b", "c d", "é"])
_documents = st.recursive(
    st.none() | st.integers() | st.sampled_from(["x", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=12,
)
_steps = st.tuples(st.booleans(), st.none() | _names | st.integers(0, 2))


def _path(steps):
    text = "$"
    for descends, member in steps:
        text += ".." if descends else ""
        text += f"[{member}]" if isinstance(member, int) else "[*]" if member is None else f"['{member}']"
    return text


def _children(value):
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _places(value, steps, place=()):
    """Where a path arrives, by the words of the standard: level by level, on the whole document."""
    if not steps:
        return {place}
    (descends, member), *rest = steps
    found = set()
    for name, child in _children(value):
        if member is None or (type(name) is type(member) and name == member):
            found |= _places(child, rest, (*place, name))
        if descends:
            found |= _places(child, steps, (*place, name))
    return found


@given(_documents, st.lists(_steps, min_size=1, max_size=3))
def test_a_path_followed_on_the_way_arrives_where_the_standard_says(document, steps):
    expected = copy.deepcopy(document)
    for *above, last in sorted(_places(document, steps), key=len, reverse=True):
        at = expected
        for name in above:
            at = at[name]
        at[last] = _HIDDEN
    assert len(parse_path(_path(steps))) == len(steps)
    assert written(document, paths=[_path(steps)]) == expected
