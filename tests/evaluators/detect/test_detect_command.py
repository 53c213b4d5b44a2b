import io
import json
import sys

import pytest

from spanproof.cli.app import run


class _Stdin:
    def __init__(self, body: bytes) -> None:
        self.buffer = io.BytesIO(body)


def test_jsonl_answers_each_line_and_a_bad_one_with_its_error(monkeypatch, capfdbinary):
    first = b'{"id": 1, "text": "```python\\nprint(1)\\n```"}'
    lines = b"\n".join([first, b'{"id": 2}', b"not json", b'{"id": "x", "text": "hello"}'])
    monkeypatch.setattr(sys, "stdin", _Stdin(lines))
    status = run(["detect", "--jsonl"])
    answers = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert answers[0] == {
        "id": 1,
        "snippets": [{"language": "python", "source": "print(1)", "start": 10, "end": 18}],
    }
    assert "text" in answers[1]["error"]
    assert "not a line of JSON" in answers[2]["error"]
    assert answers[3] == {"id": "x", "snippets": []}
    assert status == 0


def test_files_are_shown_with_language_and_line(tmp_path, capsys):
    path = tmp_path / "answer.md"
    path.write_text("Use this:\n\n```sql\nSELECT 1\n```\n")
    assert run(["detect", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 snippet" in shown
    assert "sql, line 4" in shown


def test_json_gives_a_line_per_file(tmp_path, capfdbinary):
    path = tmp_path / "answer.md"
    path.write_text("nothing here")
    assert run(["detect", "--json", str(path)]) == 0
    assert json.loads(capfdbinary.readouterr().out) == {"file": str(path), "snippets": []}


@pytest.mark.parametrize("arguments", [["detect", "/nowhere/at/all.md"], ["detect", "--nonsense"]])
def test_misuse_exits_with_2(arguments):
    assert run(arguments) == 2
