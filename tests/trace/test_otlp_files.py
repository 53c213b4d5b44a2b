import os

import pytest

from spanproof.trace.otlp import MalformedOtlp, encode_json, encode_protobuf, read_file
from spanproof.trace.otlp.files import MAX_FILE_BYTES


def test_each_form_of_file_gives_its_requests(tmp_path, small_request):
    one = encode_json(small_request)
    (tmp_path / "a.pb").write_bytes(encode_protobuf(small_request))
    (tmp_path / "a.json").write_bytes(one)
    (tmp_path / "a.jsonl").write_bytes(one + b"\n\n" + one + b"\n")
    assert read_file(tmp_path / "a.pb") == [small_request]
    assert read_file(tmp_path / "a.json") == [small_request]
    assert read_file(tmp_path / "a.jsonl") == [small_request, small_request]


def test_a_json_file_with_a_request_per_line_is_read_by_line(tmp_path, small_request):
    one = encode_json(small_request)
    (tmp_path / "collector.json").write_bytes(one + b"\n" + one + b"\n")
    assert read_file(tmp_path / "collector.json") == [small_request, small_request]


def test_a_bad_line_is_named_by_file_and_number(tmp_path, small_request):
    path = tmp_path / "a.jsonl"
    path.write_bytes(encode_json(small_request) + b"\n{broken\n")
    with pytest.raises(MalformedOtlp, match=r"a\.jsonl:2: not JSON"):
        read_file(path)


def test_a_bad_file_is_named(tmp_path):
    path = tmp_path / "a.pb"
    path.write_bytes(b"\x0a\xff")
    with pytest.raises(MalformedOtlp, match=r"a\.pb: not an OTLP trace request"):
        read_file(path)


def test_another_suffix_is_refused_with_those_that_are_taken(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_bytes(b"{}")
    with pytest.raises(MalformedOtlp, match=r"\.pb, \.json or \.jsonl"):
        read_file(path)


@pytest.mark.parametrize("suffix", ["pb", "json", "jsonl"])
def test_a_device_and_a_pipe_are_refused_and_a_file_too_large_to_hold(tmp_path, suffix):
    (tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / f"pipe.{suffix}")
    for name in ("zero", "pipe"):
        with pytest.raises(MalformedOtlp, match="not a regular file"):
            read_file(tmp_path / f"{name}.{suffix}")
    with (tmp_path / f"large.{suffix}").open("wb") as sparse:
        sparse.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(MalformedOtlp, match="more than 4 GiB; split the file"):
        read_file(tmp_path / f"large.{suffix}")
