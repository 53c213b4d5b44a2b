"""Fixtures of runs: files, a database, recorded HTTP, packages, a seed and a clock, by cohort.

Takes a YAML file; gives `FixtureBook`, which knows the set of each run. What the file names is read when it
is loaded, so that what is missing is reported at start and not at some trace. Nothing is run here.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from spanproof.sandbox import Database, DatabaseEngine, Exchange, PackageSet
from spanproof.sandbox.calls import check_files
from spanproof.sandbox.errors import BadFixture, EnvironmentUnavailable
from spanproof.sandbox.har import parse_har
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    load_yaml,
    read_beneath,
    read_bounded,
)
from spanproof.trace import Cohort

_T = TypeVar("_T")

_FILE_BYTES = 256 * 1024 * 1024
_DIMENSIONS = tuple(dimension.name for dimension in fields(Cohort))
_KEYS = ("name", "cohort", "files", "database", "http", "packages", "seed", "clock")
_SEEDS = range(2**32)


@dataclass(frozen=True, slots=True)
class FixtureSet:
    """What the runs of a cohort find around them.

    Attributes:
        cohort: values a run must have, by dimension; none fits every run.
        files: what lies in the work directory, by relative path; the database's file among them.
        database: what SQL runs against; without one, SQL is not replayed.
        http: calls that are answered.
        packages: the pinned packages; None is the sandbox's own runtime, whatever versions it has.
        seed: of everything random.
        fixes_seed: whether the file gives the seed; else that of an experiment's trial takes its place.
        clock_s: Unix time at the start; None is that of the run's first step.
    """

    name: str = ""
    cohort: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    database: Database | None = None
    http: tuple[Exchange, ...] = ()
    packages: PackageSet | None = None
    seed: int = 0
    fixes_seed: bool = False
    clock_s: float | None = None

    def fits(self, cohort: Cohort) -> bool:
        """Whether a run of this cohort is one of its runs."""
        of_run = asdict(cohort)
        return all(of_run[dimension] == value for dimension, value in self.cohort.items())


NO_FIXTURES = FixtureSet()


@dataclass(frozen=True, slots=True)
class FixtureBook:
    """All sets of a file.

    Attributes:
        sets: in the order of the file.
        origin: names the file.
        seed: of everything random in runs whose set fixes no seed.
    """

    sets: tuple[FixtureSet, ...] = ()
    origin: str = ""
    seed: int = 0

    def get_fixture_set(self, cohort: Cohort) -> FixtureSet:
        """Return the set of a run, with a seed: the one its `fixture_set` names, else the first that fits.

        Raises:
            BadFixture: the run names a set that is not in the book.
        """
        found = self._get_set(cohort)
        if found.fixes_seed:
            return found
        return replace(found, seed=self.seed)

    def _get_set(self, cohort: Cohort) -> FixtureSet:
        if not self.sets:
            return NO_FIXTURES
        named = cohort.fixture_set
        if named:
            found = next((fixtures for fixtures in self.sets if fixtures.name == named), None)
            if found is None:
                raise BadFixture(
                    f"{self.origin}: the run's fixture set {named!r} is not in it; add a set of this name"
                )
            return found
        return next((fixtures for fixtures in self.sets if fixtures.fits(cohort)), NO_FIXTURES)


def load_fixtures(path: Path) -> FixtureBook:
    """Read a file of fixtures and all it names.

    Raises:
        BadFixture: it is absent, no YAML, or says what fixtures cannot; names file, set, key and remedy.
    """
    try:
        content = read_bounded(path, MAX_DOCUMENT_BYTES)
    except (OSError, UnsafeFileError) as problem:
        raise BadFixture(f"{path}: cannot be read: {problem}; name a readable UTF-8 file") from problem
    return parse_fixtures(content, path)


def parse_fixtures(content: bytes, path: Path) -> FixtureBook:
    """Return the fixtures of a file's content, with all it names; `path` is the file's.

    Raises:
        BadFixture: it is no YAML, or says what fixtures cannot; names file, set, key and remedy.
    """
    try:
        document = load_yaml(content)
    except MalformedYamlError as problem:
        raise BadFixture(f"{path}: not valid YAML: {problem}; correct the file there") from problem
    if (
        not isinstance(document, Mapping)
        or list(document) != ["sets"]
        or not isinstance(document["sets"], list)
    ):
        raise BadFixture(f"{path}: must be `sets:` and a list of sets of fixtures below it")
    found = [
        _Reader(path, f"sets[{at}]", _get_mapping(path, f"sets[{at}]", entry)).read_set()
        for at, entry in enumerate(document["sets"])
    ]
    names = [fixtures.name for fixtures in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadFixture(f"{path}: two sets are named {twice!r}; a run could not name either")
    return FixtureBook(tuple(found), str(path))


def _get_mapping(path: Path, where: str, entry: object) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping) or not all(isinstance(key, str) for key in entry):
        raise BadFixture(f"{path}: {where} must be keys and values")
    return entry


class _Reader:
    """Reads one set; each error names the place in the file."""

    def __init__(self, path: Path, where: str, entry: Mapping[str, Any]) -> None:
        self._path = path
        self._place = where
        self._entry = entry

    def read_set(self) -> FixtureSet:
        """Return the set, with the content of all files it names."""
        unknown = sorted(self._entry.keys() - set(_KEYS))
        if unknown:
            raise self._build_error(unknown[0], f"is no key of a set; known: {', '.join(_KEYS)}")
        name = self._entry.get("name")
        if not isinstance(name, str) or not name:
            raise self._build_error("name", "must be a text: runs name their set by it")
        files = self._read_files()
        return FixtureSet(
            name=name,
            cohort=self._read_cohort(),
            database=self._find_database(files),  # adds its file
            files=files,
            http=self._find_value("http", self._read_http) or (),
            packages=self._find_packages(),
            seed=self._read_seed(),
            fixes_seed="seed" in self._entry,
            clock_s=self._find_clock(),
        )

    def _build_error(self, key: str, what: str) -> BadFixture:
        return BadFixture(f"{self._path}: {self._place}.{key} {what}")

    def _find_value(self, key: str, read: Callable[[Any], _T]) -> _T | None:
        value = self._entry.get(key)
        return None if value is None else read(value)

    def _read_cohort(self) -> Mapping[str, str]:
        cohort = self._entry.get("cohort") or {}
        if not isinstance(cohort, Mapping) or not all(isinstance(value, str) for value in cohort.values()):
            raise self._build_error("cohort", "must be texts by dimension, as `agent: pricing`")
        unknown = sorted(str(key) for key in cohort if key not in _DIMENSIONS)
        if unknown:
            raise self._build_error(
                f"cohort.{unknown[0]}", f"is no dimension of a cohort; known: {', '.join(_DIMENSIONS)}"
            )
        return dict(cohort)

    def _read_files(self) -> dict[str, bytes]:
        entry = self._entry.get("files") or {}
        if not isinstance(entry, Mapping) or not all(isinstance(key, str) for key in entry):
            raise self._build_error("files", "must be files by their path in the work directory")
        try:
            check_files(entry)
        except ValueError as problem:
            raise self._build_error("files", str(problem)) from problem
        return {name: self._read_content(at, f"files.{name}") for name, at in entry.items()}

    def _read_http(self, named: object) -> tuple[Exchange, ...]:
        return parse_har(self._read_content(named, "http"), str(self._path.parent / str(named)))

    def _find_database(self, files: dict[str, bytes]) -> Database | None:
        entry = self._entry.get("database")
        if entry is None:
            return None
        if not isinstance(entry, Mapping) or not set(entry) <= {"engine", "file", "writable"}:
            raise self._build_error("database", "takes `engine` (sqlite or duckdb), `file` and `writable`")
        try:
            engine = DatabaseEngine(entry.get("engine", "sqlite"))
        except ValueError as problem:
            raise self._build_error("database.engine", "must be sqlite or duckdb") from problem
        writable = entry.get("writable", False)
        if not isinstance(writable, bool):
            raise self._build_error("database.writable", "must be true or false")
        if entry.get("file") is None:
            return Database(engine)
        content = self._read_content(entry["file"], "database.file")
        name = Path(entry["file"]).name
        files[name] = content
        return Database(engine, name, writable)

    def _find_packages(self) -> PackageSet | None:
        entry = self._entry.get("packages")
        if entry is None:
            return None
        from spanproof.sandbox.environments import MAX_PACKAGES_BYTES, parse_packages

        content = self._read_content(entry, "packages", MAX_PACKAGES_BYTES)
        try:
            return parse_packages(content, self._path.parent / entry).packages
        except EnvironmentUnavailable as problem:
            raise self._build_error("packages", f"names no pinned packages: {problem}") from problem

    def _read_seed(self) -> int:
        seed = self._entry.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int) or seed not in _SEEDS:
            raise self._build_error("seed", f"must be a number from 0 to {_SEEDS.stop - 1}")
        return seed

    def _find_clock(self) -> float | None:
        clock = self._entry.get("clock")
        if isinstance(clock, str):
            try:
                clock = datetime.datetime.fromisoformat(clock)
            except ValueError:
                clock = ""
        if clock is None:
            return None
        if not isinstance(clock, datetime.datetime) or clock.tzinfo is None:
            raise self._build_error("clock", "must be a time with its zone, as 2026-11-01T09:00:00Z")
        return clock.timestamp()

    def _read_content(self, entry: object, key: str, max_bytes: int = _FILE_BYTES) -> bytes:
        """Return the content of a file that the file names, beneath its own folder."""
        name = self._read_name(entry, key)
        try:
            return read_beneath(self._path.parent, name, max_bytes)
        except UnsafeFileError as problem:
            raise self._build_error(key, f"cannot be used: {problem}") from problem
        except OSError as problem:
            shown = self._path.parent / name
            raise self._build_error(
                key, f"names {shown}, which cannot be read: {problem.strerror}"
            ) from problem

    def _read_name(self, entry: object, key: str) -> str:
        if not isinstance(entry, str) or not entry:
            raise self._build_error(key, "must be the path of a file")
        return entry
