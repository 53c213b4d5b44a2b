from __future__ import annotations

import fcntl
import os
import resource

import pytest

from spanproof.experiments import build_module_agent, run_experiment
from spanproof.experiments.launch import LineReader


@pytest.fixture
def high_descriptor():
    """The reading end of a pipe, numbered as in a process with many open files, and the writing end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < 1200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1200, hard))
    reading, writing = os.pipe()
    high = fcntl.fcntl(reading, fcntl.F_DUPFD_CLOEXEC, 1100)
    os.close(reading)
    yield high, writing
    os.close(writing)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_answers_are_read_in_a_process_with_many_open_files(high_descriptor):
    high, writing = high_descriptor
    reader = LineReader(high)
    os.write(writing, b'{"answer": 45}\n')
    assert reader.wait_for_line(5.0) == {"answer": 45}
    assert reader.wait_for_line(0.0) is None
    reader.close()


def test_the_agent_is_found_where_a_notebook_added_its_folder(write_suite, engine, tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "agent_of_a_notebook.py").write_text("def answer(task):\n    return '45.00'\n")
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    suite = write_suite(one={"requires": [], "must": [{"answer": {"contains": "45.00"}}]})
    found = run_experiment(build_module_agent("agent_of_a_notebook:answer"), suite, tmp_path / "x", engine)
    assert found.trials[0].answer == "45.00"
    assert found.trials[0].passed
