"""Tool calls that were labelled before anything was run on them, decoded as a dialect decodes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.evaluators.detect.arguments import list_code
from spanproof.trace import ToolCall
from spanproof.trace.dialects.decode import decode_document

GOLDEN = Path(__file__).parents[2] / "golden" / "detection" / "blind-calls.yaml"
CALLS = load_golden(GOLDEN)


@pytest.mark.parametrize(("language", "tool", "arguments"), CALLS)
def test_a_call_carries_what_it_was_labelled_with(language, tool, arguments):
    found = {code.language.value for code in list_code(ToolCall(tool, decode_document(arguments)))}
    assert found == (set() if language == "none" else {language})
