import pytest

from spanproof.evaluators.detect.arguments import list_code
from spanproof.trace import Language, ToolCall


@pytest.mark.parametrize(
    ("tool", "arguments", "language", "source"),
    [
        ("python_repl", {"code": "x"}, Language.PYTHON, "x"),
        ("python_repl", "print(1)", Language.PYTHON, "print(1)"),
        ("python_repl", ["print(1)"], Language.PYTHON, "print(1)"),
        ("python_repl", {"__arg1": "1 + 1"}, Language.PYTHON, "1 + 1"),
        ("run-python", {"args": ["print(1)"], "kwargs": {}}, Language.PYTHON, "print(1)"),
        ("code_interpreter", {"code": "console.log(1);"}, Language.JAVASCRIPT, "console.log(1);"),
        ("execute_code", {"language": "bash", "code": "ls"}, Language.BASH, "ls"),
        ("execute_code", {"code": "PRINT 1"}, Language.OTHER, "PRINT 1"),
        ("Execute Python", {"code": "x"}, Language.PYTHON, "x"),
        ("functions.runPython", {"code": "x"}, Language.PYTHON, "x"),
        ("terminal", {"command": "ls"}, Language.BASH, "ls"),
        ("shell", {"action": {"command": ["bash", "-lc", "ls | wc -l"]}}, Language.BASH, "ls | wc -l"),
        ("shell", {"command": ["ls", "my boxes"]}, Language.BASH, "ls 'my boxes'"),
        ("sql_db_query", "SELECT 1", Language.SQL, "SELECT 1"),
        ("query_database", {"query": "select name from boxes where price > 3"}, Language.SQL,
         "select name from boxes where price > 3"),
        ("runSql", {"query": "SHOW TABLES"}, Language.SQL, "SHOW TABLES"),
        ("lookup", {"query": "SELECT name FROM boxes WHERE price > 3"}, Language.SQL,
         "SELECT name FROM boxes WHERE price > 3"),
        ("analyse", {"script": "import csv\nprint(csv.field_size_limit())"}, Language.PYTHON,
         "import csv\nprint(csv.field_size_limit())"),
    ],
)  # fmt: skip
def test_code_tools_and_code_arguments_are_known(tool, arguments, language, source):
    (found,) = list_code(ToolCall(tool, arguments))
    assert (found.language, found.source, found.runs) == (language, source, True)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_refund", {"order_id": "A-17"}),
        ("web_search", {"query": "how to sort a list in python"}),
        ("web_search", "print(1) what does it do"),
        ("convert", {"code": "EUR", "amount": 3}),
        ("robot", {"command": "turn left"}),
        ("sql_db_schema", {"table": "boxes"}),
        ("sql_db_query", {"query": ""}),
        ("final_answer", {"answer": "def f():\n    return 1"}),
        ("post", {"body": '{"a": [1, 2]}', "source": '{"a": [1, 2]}'}),
        ("python_repl", None),
        ("python_repl", {}),
        ("python_repl", {"code": 7}),
        ("note", 3.5),
    ],
)
def test_arguments_of_ordinary_tools_are_data(tool, arguments):
    assert list_code(ToolCall(tool, arguments)) == []


def test_a_file_being_written_is_code_that_does_not_run():
    call = ToolCall("write_file", {"path": "/app/report.py", "content": "print('report')"})
    (found,) = list_code(call)
    assert (found.language, found.runs, found.path) == (Language.PYTHON, False, "arguments.content")
    assert list_code(ToolCall("write_file", {"path": "notes.txt", "content": "print it"})) == []
