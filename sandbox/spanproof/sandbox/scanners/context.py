"""What every scanner works in: the boundary, the report, the time left, and how deep in nested sources it is.

A command in a Python string is handed to the shell scanner, code in a shell string to the Python scanner:
each nested scan gets a context of its own whose findings all have the outer place.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from typing import Final

from spanproof.sandbox.scanners.boundary import Boundary, Crossing
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.own_files import OwnFiles
from spanproof.sandbox.scanners.reader.values import Value
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.rules import Rule
from spanproof.sandbox.scanners.source import Place

clock: Final = time.thread_time
"""Seconds of processor time this thread has had: a busy machine must not make a scanner late."""

MAX_NESTING = 6
"""Sources within sources; what hides deeper is denied as a payload."""


class OutOfTime(Exception):  # noqa: N818 - named after what happened
    """The scan's time budget is spent."""


@dataclass(slots=True)
class Context:
    """Handed to each scanner, which changes none of its fields: one is made for each scanner of a scan.

    Attributes:
        deadline: on `clock`, in seconds.
        fixed_place: the place of findings when the source is nested in another.
        origin: a phrase put before messages of nested sources.
        salt: the key of fingerprints, up to 64 bytes.
    """

    boundary: Boundary
    report: Report
    deadline: float
    depth: int = 0
    fixed_place: Place | None = None
    origin: str = ""
    salt: bytes = b""
    variables: set[str] = field(default_factory=set)
    """Variables of the environment that the program has set itself, or a program that starts it."""
    values: dict[object, Value] = field(default_factory=dict)
    """What a reader knows of the values of such variables, by their names."""
    owns_environment: bool = False
    """Whether a program that starts this one gives it all the variables that it has."""
    own_files: OwnFiles = field(default_factory=OwnFiles)
    """What the program, and the scripts that it starts, have written to files."""

    def add(
        self,
        rule: str,
        place: Place,
        message: str,
        verdict: Verdict | None = None,
        *,
        policy_line: str = "",
        path: str = "",
    ) -> None:
        """Report one finding of the source at hand; `policy_line` of a policy file would allow it."""
        message, place = self.origin + message, self.fixed_place or place
        self.report.add(rule, place, message, verdict, policy_line=policy_line, path=path)

    def report_finding(self, rule: str, described: Rule, place: Place, message: str) -> None:
        """Report one finding of a rule that is not in the catalogue: a user's own."""
        self.report.add(rule, self.fixed_place or place, self.origin + message, described=described)

    def add_secret(
        self, rule: str, place: Place, message: str, value: str, verdict: Verdict | None = None
    ) -> None:
        """Report a secret: of its value only the keyed fingerprint is kept."""
        data = value.encode("utf-8", "surrogatepass")
        mark = hashlib.blake2b(data, key=self.salt[:64], digest_size=8).hexdigest()
        self.report.add(rule, self.fixed_place or place, self.origin + message, verdict, fingerprint=mark)

    def handle_crossing(self, language: str, crossing: Crossing | None, place: Place, who: str) -> bool:
        """Report a crossing of the boundary, if it is one; `who` names the call or command."""
        if crossing is None:
            return False
        message = f"{who} {crossing.message}"
        rule = f"{language}.{crossing.rule}"
        self.add(rule, place, message, policy_line=crossing.policy_line, path=crossing.path)
        return True

    def evaluate_variable(self, name: str) -> Crossing | None:
        """Judge the reading of a variable of the environment; an empty name means all of them."""
        is_own = self.owns_environment or name in self.variables
        return None if is_own else self.boundary.evaluate_variable(name)

    def build_nested(self, place: Place, origin: str) -> Context:
        """Return the context of a source found inside this one at `place`."""
        return replace(
            self,
            depth=self.depth + 1,
            fixed_place=self.fixed_place or place,
            origin=origin,
            variables=set(self.variables),
            values=dict(self.values),
        )

    def check_time(self) -> None:
        """Stop a scan that takes too long.

        Raises:
            OutOfTime: the deadline has passed.
        """
        if clock() > self.deadline:
            raise OutOfTime("the time budget is spent")
