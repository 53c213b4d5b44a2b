from __future__ import annotations

import fcntl
import os
import resource

import pytest

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
    assert reader.read(5.0) == {"answer": 45}
    assert reader.read(0.0) is None
    reader.close()
