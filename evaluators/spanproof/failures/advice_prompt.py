"""A prompt for a judge about a cluster of failures that no rule explains: which change helps?

In: the signature of the failure, and its words in some runs. Out: a fix of the prompt, a tool or the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from spanproof.evaluators.judge.errors import JudgeFailed
from spanproof.evaluators.judge.prompt import UNTRUSTED_RULES, Part, Prompt
from spanproof.evaluators.judge.reply import parse_json_object
from spanproof.failures.model import Signature

MAX_FIX: Final = 400
"""Characters of a fix: about three sentences. The shipped rules have 178 at most."""


class _Target(StrEnum):
    """What a fix changes; there is none for the policy, so that a fix cannot widen it."""

    PROMPT = "prompt"
    TOOL = "tool"
    DATA = "data"
    NOTHING = "nothing"


_INSTRUCTIONS: Final = f"""
Agents failed in the same way in several runs. Name the narrowest change that most likely prevents the
failure: of the agent's prompt, of a tool, or of the data. Never propose to allow a host, a path, a package, a
program or a permission, and never to switch a check off. Where the material does not show what helps, the
change is "nothing", and the fix is empty. Write one to three short sentences, {MAX_FIX} characters at most.
"""

_FORM: Final = """
Reply with JSON of this form and nothing else:
{"change": "prompt" | "tool" | "data" | "nothing", "fix": "<what to change, and why>"}
"""

_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "change": {"type": "string", "enum": [target.value for target in _Target]},
        "fix": {"type": "string"},
    },
    "required": ["change", "fix"],
    "additionalProperties": False,
}
# 400 characters of English are 100 tokens, of Chinese up to 400.
_MAX_REPLY_TOKENS: Final = 500


class AdvicePrompt(Prompt[str]):
    """The evidence of a failure; the reply is a fix, empty where the judge has none."""

    def __init__(self, signature: Signature, samples: Sequence[str]) -> None:
        """Take the failure's signature, and its words in runs that represent it."""
        evidence = {
            "layer": signature.layer.value,
            "check": signature.check,
            "failure class": signature.failure_class,
            "exception": signature.error_type,
            "message": signature.message,
            "tool or kind": signature.subject,
            "raised in": signature.package,
        }
        lines = [f"{name}: {value}" for name, value in evidence.items() if value]
        runs = [Part(f"run {number}", sample) for number, sample in enumerate(samples, 1) if sample.strip()]
        self._parts = (Part("failure", "\n".join(lines)), *runs)

    @property
    def instructions(self) -> str:
        """What a fix may change, how material is marked, and the form of the reply."""
        return f"{_INSTRUCTIONS}{UNTRUSTED_RULES}{_FORM}"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The signature, and the words of each run."""
        return self._parts

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Prompt.schema`."""
        return _SCHEMA

    @property
    def max_reply_tokens(self) -> int:
        """See `Prompt.max_reply_tokens`."""
        return _MAX_REPLY_TOKENS

    def parse_reply(self, text: str) -> str:
        """Return the fix on one line.

        Raises:
            JudgeFailed: no JSON of this form, a fix of something else, or one that is too long.
        """
        reply = parse_json_object(text, ("change", "fix"))
        change, fix = reply["change"], reply["fix"]
        if not isinstance(change, str) or change not in list(_Target):
            raise JudgeFailed("malformed", f"a fix of {str(change)[:50]!r} is none of {', '.join(_Target)}")
        if change == _Target.NOTHING:
            return ""
        line = " ".join(fix.split()) if isinstance(fix, str) else ""
        if not 0 < len(line) <= MAX_FIX:
            raise JudgeFailed("malformed", f"a fix has 1 to {MAX_FIX} characters: {str(fix)[:200]!r}")
        return line
