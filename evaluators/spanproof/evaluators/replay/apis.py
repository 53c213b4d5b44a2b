"""Looking names up in the sandbox's runtime: whether modules and their attributes exist.

Takes the dotted names snippets use, and the attributes of instances whose type is certain; gives a report per
snippet. The look-up is one program of ours, run in
the sandbox, that imports the modules and follows the attributes: no snippet is run, and the host imports
nothing. Answers are kept, as the runtime of a backend does not change while it is open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from spanproof.evaluators.model import ApiReport, MissingName
from spanproof.evaluators.replay.types import Typed
from spanproof.evaluators.replay.uses import Use, read_uses
from spanproof.sandbox import (
    Ecosystem,
    FailureClass,
    Fixtures,
    Limits,
    PackageSet,
    Program,
    Sandbox,
    SandboxBroken,
)
from spanproof.trace import Language, Run

# What `_LOOK_UP` says of a name, where that is not `found`.
_MISSING_MODULE, _MISSING_ATTRIBUTE, _NOT_INSTALLED, _UNKNOWN = "module", "attribute", "package", "?"

# Kept answers; beyond it the oldest half is dropped.
_MAX_NAMES = 2_000

_LOOK_UP = """
import contextlib, importlib, importlib.util, io, json, sys, types, warnings
warnings.simplefilter("ignore")
def of_instance(kind, attribute, called):
    if not isinstance(kind, type):
        return "?"
    if kind.__module__ == "pathlib":
        import pathlib
        kind = type(pathlib.Path())
    if hasattr(kind, attribute):
        return "found"
    pandas = sys.modules.get("pandas")
    if pandas is not None and kind in (pandas.DataFrame, pandas.Series):
        return "attribute" if called else "?"  # a column, else; and no column can be called
    plain = type(object.__getattribute__)
    dynamic = any("__getattr__" in base.__dict__ for base in kind.__mro__)
    dynamic = dynamic or type(kind.__getattribute__) is not plain
    return "?" if dynamic or kind.__dictoffset__ else "attribute"
def look_up(name):
    if "()." in name:
        kind, _, attribute = name.partition("().")
        try:
            module, _, known = kind.rpartition(".")
            known = getattr(importlib.import_module(module), known)
            return of_instance(known, attribute.removesuffix("()"), attribute.endswith("()"))
        except ModuleNotFoundError as missing:
            return "package" if missing.name == kind.split(".")[0] else "?"
        except BaseException:
            return "?"
    parts = name.split(".")
    try:
        if importlib.util.find_spec(parts[0]) is None:
            return "module" if parts[0] in sys.stdlib_module_names else "package"
        value = importlib.import_module(parts[0])
    except BaseException:
        return "?"
    for at, part in enumerate(parts[1:], 2):
        try:
            value = getattr(value, part)
        except AttributeError:
            if not isinstance(value, types.ModuleType):
                return "attribute"
            try:
                value = importlib.import_module(".".join(parts[:at]))
            except ModuleNotFoundError as missing:
                if missing.name != ".".join(parts[:at]):
                    return "?"
                return "attribute"
            except BaseException:
                return "?"
        except BaseException:
            return "?"
    return "found"
names = json.loads(%r)
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    found = {name: look_up(name) for name in names}
print(json.dumps(found))
"""


@dataclass(slots=True)
class ApiIndex:
    """What is known of one sandbox's runtime. Thread-safe."""

    sandbox: Sandbox
    _known: dict[tuple[PackageSet | None, str], str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get_reports(self, run: Run, packages: PackageSet | None = None) -> Mapping[str, ApiReport]:
        """Return one report per Python snippet of the run that parses, by snippet id.

        Args:
            run: whose snippets are looked at.
            packages: those its replay finds; None is the runtime's own.

        Raises:
            SandboxUnavailable: the backend cannot run here.
            SandboxBroken: the look-up failed.
        """
        uses = _get_uses(run)
        statuses = self._get_statuses({use.name for found in uses.values() for use in found}, packages)
        return {snippet_id: _build_report(found, statuses) for snippet_id, found in uses.items()}

    def _get_statuses(self, names: Iterable[str], packages: PackageSet | None) -> Mapping[str, str]:
        if packages is not None and packages.ecosystem is not Ecosystem.PIP:
            packages = None
        wanted = set(names)
        with self._lock:
            found = {name: self._known[packages, name] for name in wanted if (packages, name) in self._known}
        new = sorted(wanted - found.keys())
        if new and Language.PYTHON.value in self.sandbox.languages:
            # Not under the lock: two threads may ask for one name, and get the same answer.
            answers = self._load_statuses(new, packages)
            found.update(answers)
            with self._lock:
                if len(self._known) > _MAX_NAMES:
                    for old in list(self._known)[: _MAX_NAMES // 2]:
                        del self._known[old]
                self._known.update({(packages, name): answer for name, answer in answers.items()})
        return dict.fromkeys(wanted, _UNKNOWN) | found

    def _load_statuses(self, names: list[str], packages: PackageSet | None) -> dict[str, str]:
        source = _LOOK_UP % json.dumps(names)
        limits = Limits(wall_s=20.0, cpu_s=20.0)
        execution = self.sandbox.run(
            Program("python", source, limits=limits, fixtures=Fixtures(packages=packages))
        )
        if execution.failure_class is not FailureClass.OK:
            raise SandboxBroken(f"the look-up of names ended with {execution.failure_class}")
        found = json.loads(execution.stdout)
        return {name: str(found.get(name, _UNKNOWN)) for name in names}


def _get_uses(run: Run) -> dict[str, list[Use]]:
    aliases: dict[str, str] = {}
    uses: dict[str, list[Use]] = {}
    typed = Typed()
    for snippet in run.snippets:
        if snippet.language is Language.PYTHON and not snippet.truncated:
            found, aliases = read_uses(snippet.source, aliases)
            uses[snippet.id] = found + typed.list_uses(snippet.source, aliases)
    return uses


def _build_report(uses: list[Use], statuses: Mapping[str, str]) -> ApiReport:
    missing: list[MissingName] = []
    not_installed: list[str] = []
    for use in uses:
        status = statuses[use.name]
        if status == _NOT_INSTALLED and use.name.split(".")[0] not in not_installed:
            not_installed.append(use.name.split(".")[0])
        if status in (_MISSING_MODULE, _MISSING_ATTRIBUTE):
            entry = MissingName(use.name.replace("()", ""), use.line, use.name == use.module)
            if all(entry.name != known_missing.name for known_missing in missing):
                missing.append(entry)
    return ApiReport(
        checked=tuple(dict.fromkeys(use.name for use in uses)),
        modules=tuple(dict.fromkeys(use.name for use in uses if use.name == use.module)),
        missing=tuple(missing),
        not_installed=tuple(not_installed),
    )
