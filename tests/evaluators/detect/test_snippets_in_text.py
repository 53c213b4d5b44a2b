import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.detect import list_text_snippets
from spanproof.trace import Language

PYTHON = "import csv\n\nwith open('boxes.csv') as file:\n    rows = list(csv.reader(file))\nprint(len(rows))"
BASH = 'for f in *.log; do\n  grep -c ERROR "$f" | sort -n\ndone'
SQL = "SELECT b.name, SUM(s.count) AS sold FROM boxes b JOIN sales s ON s.box = b.id GROUP BY b.name"
JAVASCRIPT = "const boxes = await load();\nboxes.forEach((box) => {\n  console.log(box.price);\n});"
TYPESCRIPT = (
    "interface Box {\n  price: number;\n}\nexport function sum(boxes: Box[]): number {\n  return 0;\n}"
)
HTML = '<!DOCTYPE html>\n<html>\n<body>\n<div class="box"><p>36</p></div>\n</body>\n</html>'
YAML = "service:\n  name: boxes\n  ports:\n    - 80\n    - 443\nreplicas: 2"
JSON = '{"boxes": [{"price": 12}, {"price": 24}]}'
JAVA = (
    "public class Box {\n    private int price;\n"
    "    public int price() {\n        return this.price;\n    }\n}"
)
SOURCES = {
    Language.PYTHON: PYTHON,
    Language.BASH: BASH,
    Language.SQL: SQL,
    Language.JAVASCRIPT: JAVASCRIPT,
    Language.TYPESCRIPT: TYPESCRIPT,
    Language.HTML: HTML,
    Language.YAML: YAML,
    Language.JSON: JSON,
    Language.JAVA: JAVA,
}
PROSE = (
    "I looked at the boxes you asked about. Three of them cost 36 euros together, which is what you paid.\n"
    "Let me know whether I should select another one from the list, or find the cheapest."
)
ALL = pytest.mark.parametrize("language", SOURCES, ids=str)


@ALL
def test_a_text_that_is_all_code_is_one_snippet(language):
    (found,) = list_text_snippets(SOURCES[language])
    assert (found.language, found.source) == (language, SOURCES[language])


@ALL
def test_a_fence_without_a_language_is_known_by_its_content(language):
    text = f"{PROSE}\n```\n{SOURCES[language]}\n```\nThat is all."
    (found,) = list_text_snippets(text)
    assert (found.language, found.source) == (language, SOURCES[language])


@pytest.mark.parametrize(
    "language", [Language.PYTHON, Language.BASH, Language.SQL, Language.JAVASCRIPT], ids=str
)
def test_code_between_sentences_is_cut_out(language):
    text = f"{PROSE}\n\n{SOURCES[language]}\n\n{PROSE}"
    (found,) = list_text_snippets(text)
    assert (found.language, found.source) == (language, SOURCES[language])


@ALL
@pytest.mark.parametrize(
    "wrap", ["{}", "\n\n{}\n\n", "Here:\n```\n{}\n```\nDone.", "Thought: go\n<code>\n{}\n</code>"]
)
def test_positions_are_where_the_source_is(language, wrap):
    text = wrap.format(SOURCES[language])
    (found,) = list_text_snippets(text)
    assert text[found.start : found.end] == found.source


@pytest.mark.parametrize(
    ("mark", "language"),
    [
        ("python", Language.PYTHON),
        ("sh", Language.BASH),
        ("postgresql", Language.SQL),
        ("TS", Language.TYPESCRIPT),
        ("go", Language.GO),
        ("golang", Language.GO),
        ("rb", Language.RUBY),
        ("C++", Language.CPP),
        ("cs", Language.CSHARP),
        ("php", Language.PHP),
        ("ps1", Language.POWERSHELL),
        ("dockerfile", Language.OTHER),
        ("json", Language.JSON),
    ],
)
def test_a_fences_own_language_is_believed(mark, language):
    (found,) = list_text_snippets(f"```{mark}\nx\n```")
    assert (found.language, found.source) == (language, "x")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n",
        "```python\nprint(1)\n```",
        "~~~py\nprint(1)\n~~~",
        "> ```python\nprint(1)\n> ```",
        "Code: ```py\nprint(1)\n```<end_code>",
        "<code>\nprint(1)\n</code>",
        "<code>\nprint(1)",
        "Thought: I print.\nCode:\nprint(1)",
        '{"name": "python", "arguments": {"code": "print(1)"}}',
        '{"function": {"name": "python", "arguments": "{\\"code\\": \\"print(1)\\"}"}}',
        'Action: python\nAction Input: {"code": "print(1)"}\nObservation: 1',
        '<tool_call>{"name": "python", "arguments": {"code": "print(1)"}}</tool_call>',
        '```json\n{"action": "python", "action_input": "print(1)"}\n```',
        "<execute_ipython>\nprint(1)\n</execute_ipython>",
        "<invoke name='run'><parameter name=\"code\">print(1)</parameter></invoke>",
    ],
)
def test_each_way_agents_mark_code_is_known(text):
    (found,) = list_text_snippets(text)
    assert (found.language, found.source) == (Language.PYTHON, "print(1)")


def test_code_in_a_json_string_is_unescaped_and_lies_inside_the_string():
    text = '{"arguments": {"code": "a = f(\\"x\\")\\nprint(a)"}}'
    (found,) = list_text_snippets(text)
    assert found.source == 'a = f("x")\nprint(a)'
    assert text[found.start : found.end] == 'a = f(\\"x\\")\\nprint(a)'


def test_a_notebooks_cells_are_a_snippet_each_and_its_markdown_is_none():
    cells = [
        {"cell_type": "markdown", "source": ["# Boxes\n", "We count the boxes."]},
        {"cell_type": "code", "source": ["import csv\n", "print(csv)"], "outputs": []},
        {"cell_type": "code", "source": "total = sum([1, 2])"},
    ]
    found = list_text_snippets(json.dumps({"cells": cells, "nbformat": 4}))
    assert [snippet.source for snippet in found] == ["import csv\nprint(csv)", "total = sum([1, 2])"]


def test_several_snippets_come_in_order():
    text = f"First:\n```bash\n{BASH}\n```\nthen\n```python\n{PYTHON}\n```\nand at last:\n\n{SQL}"
    assert [found.language for found in list_text_snippets(text)] == [
        Language.BASH,
        Language.PYTHON,
        Language.SQL,
    ]


def test_a_program_that_was_cut_is_still_code():
    (found,) = list_text_snippets(PYTHON + "\nfor row in rows:\n    print(row[")
    assert found.language is Language.PYTHON


def test_comments_and_docstrings_do_not_split_a_program():
    text = (
        "# Count the boxes. This is a long comment that reads like a sentence.\n"
        'def count(boxes):\n    """Count them.\n\n'
        '    Boxes without a price are left out, as agreed.\n    """\n'
        "    return len(boxes)"
    )
    (found,) = list_text_snippets(text)
    assert found.source == text


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "TERMINATE",
        "36",
        "Paris, France",
        "Yes (all of them)",
        "45.0\n",
        "2026-05-01",
        "Use the `df.head()` value, or `--verbose`.",
        "Call the <code>head</code> method of the frame.",
        "Execution failed: KeyError: 'amount'. Please try again.",
        (
            "Traceback (most recent call last):\n"
            '  File "shop.py", line 2, in price\n    return prices[9]\nKeyError: 9'
        ),
        "shop.py:3: UserWarning: no price.\n  warn(message)\nThe run goes on.",
        "| box | price |\n|---|---|\n| small | 12 |\n| big | 24 |",
        "1. Open the list of boxes.\n2. Find the cheapest one.\n- Buy it; then tell me.",
        '{"city": "Paris", "date": "2026-05-01", "passengers": 2}',
        "{'price': 36, 'currency': 'EUR'}",
        "['small', 'big']",
        "Address: file:///tmp/boxes.pdf\nTitle: Boxes\nPages: 3",
        "Here is the summary:\n```\nThree boxes were sold for 36 euros in total.\n```",
        "```text\nprint(1)\n```",
        "```python\n\n```",
        "The area is\n\nA = 1/2 * 6 * 8\n\nA = 24\n\nsquare units.",
        "Please select the best offer from the table, then update me.",
        "find the quickest way, cut the costs and sort the rest",
        "make sure to echo what they said, and head over to the shop",
        "(a) to copy the work;\n(b) to prepare derivative works;\n(c) to distribute copies.",
        "",
        "   \n\t",
    ],
)
def test_what_is_no_code_yields_nothing(text):
    assert list_text_snippets(text) == []


@given(text=st.text(st.characters()) | st.text("`~<>code/\n {}\"':=()#$", max_size=80))
def test_any_text_gives_snippets_within_it_and_apart(text):
    end = 0
    for found in list_text_snippets(text):
        assert end <= found.start <= found.end <= len(text)
        assert found.source
        end = found.end


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000_000,
        "word " * 1_000_000,
        "```\n" * 100_000,
        "<code>" * 100_000,
        '"' * 500_000,
        '{"code":"' + "\\n" * 500_000 + '"}',
        "SELECT a " * 50_000,
        "[" * 50_000,
        "/*" * 50_000,
        '{"a":' * 50_000,
        "a: |\n" * 30_000,
        "\x00" * 50_000,
        "\ud800" * 50_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_texts_made_to_be_slow_do_not_hang(text, deadline):
    with deadline(60):
        list_text_snippets(text)


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("base: &base\n  retries: 3\nlive:\n  <<: *base\n  debug: false", Language.YAML),
        ("hosts:\n  - &web\n    name: a\nother: !include x.yaml", Language.YAML),
        ('orders <- read.csv("orders.csv")\nsummary(orders$total)', Language.R),
        ("fit <- stats::lm(y ~ x)\nprint(fit)", Language.R),
    ],
)
def test_anchors_of_yaml_and_arrows_of_r_are_code(code, language):
    for text in (code, f"I will run this now.\n\n{code}\n\nThat should settle it."):
        assert [(found.language, found.source) for found in list_text_snippets(text)] == [(language, code)]


def messages(content):
    """One message of a model, in the forms in which traces hold it."""
    message = {"role": "assistant", "content": content}
    yield json.dumps(message)
    yield json.dumps([{"role": "user", "content": "How much is it?\nAnd why?"}, message])
    yield json.dumps({"choices": [{"message": message}]})
    yield json.dumps({"role": "assistant", "content": [{"type": "text", "text": content}]})
    yield json.dumps(json.dumps(message))
    yield repr(message)
    yield repr([message])
    yield f"ChatMessage(role='assistant', content={content!r}, tool_calls=None)"
    yield f"[AIMessage(content={content!r}, additional_kwargs={{}}, usage={{'input': -1}})]"


@pytest.mark.parametrize(
    "content",
    [
        f"Thought: I read the boxes.\n<code>\n{PYTHON}\n</code>",
        f"{PROSE}\n```python\n{PYTHON}\n```\n{PROSE}",
        f"{PROSE}\n```\n{PYTHON}\n```",
    ],
)
def test_code_in_the_words_of_a_message_is_cut_out_of_them(content):
    for text in messages(content):
        (found,) = list_text_snippets(text)
        assert (found.language, found.source) == (Language.PYTHON, PYTHON), text


def test_words_without_code_in_a_printed_message_are_none():
    for text in list(messages(PROSE))[5:]:
        assert list_text_snippets(text) == [], text


@pytest.mark.parametrize(
    "call",
    [
        {"name": "search", "arguments": {"query": "boxes", "filters": {"price": [3, 4]}}},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"tags": ["a", "b"]}},
        {"tool_calls": [{"function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}]},
        [{"tool": "search", "args": ["boxes"]}, {"tool": "search", "args": ["lids"]}],
    ],
)
def test_a_call_of_a_tool_that_carries_no_code_is_none(call):
    assert list_text_snippets(json.dumps(call)) == []


def test_lines_of_json_are_json():
    (found,) = list_text_snippets('{"price": 1}\n{"price": 2}')
    assert found.language is Language.JSON


@pytest.mark.parametrize(
    "prompt", ["$ ", "% ", "ana@host:~/boxes$ ", "root@web-1:/# ", "(venv) ana@host:~$ "]
)
def test_a_command_behind_the_prompt_of_a_shell_is_found(prompt):
    (found,) = list_text_snippets(f"{prompt}git status\n{prompt}ls -la")
    assert found.language is Language.BASH


def test_formulas_are_no_code():
    assert list_text_snippets("The mean is\n\n$$\nx = \\frac{a + b}{2}\n$$\n\nas you know.") == []


def test_assignments_that_build_on_each_other_are_code_and_formulas_are_not():
    (found,) = list_text_snippets("price = 12.5\ncount = 4\ntotal = price * count")
    assert found.language is Language.PYTHON
    assert list_text_snippets("x = 6\ny = 2 * x\nz = x + y") == []


def test_an_arrow_is_no_redirection():
    (found,) = list_text_snippets("```\nitems.map(i => i.name).filter(Boolean)\n```")
    assert found.language is Language.JAVASCRIPT


def test_a_document_given_to_a_tool_as_code_is_found():
    (found,) = list_text_snippets(json.dumps({"name": "apply", "arguments": {"code": JSON}}))
    assert found.language is Language.JSON
    (found,) = list_text_snippets(json.dumps({"name": "apply", "arguments": {"code": YAML}}))
    assert (found.language, found.source) == (Language.YAML, YAML)
    assert list_text_snippets(json.dumps({"name": "note", "arguments": {"body": YAML}})) == []
