"""A file of fixtures: what it may say, which set is a run's, and errors that name the place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanproof.evaluators.replay import FixtureBook, FixtureSet, load_fixtures
from spanproof.sandbox import BadFixture, Database, DatabaseEngine, PackageSet
from spanproof.sandbox.model import Ecosystem
from spanproof.trace import Cohort

DOCUMENTED = (Path(__file__).parents[3] / "docs/replay.md").read_text()
WHOLE = DOCUMENTED.partition("```yaml\n")[2].partition("```")[0]
HAR = {"log": {"entries": [{
    "request": {"method": "GET", "url": "https://shop.example/a"},
    "response": {"status": 200, "headers": [], "content": {"text": "{}", "mimeType": "application/json"}},
}]}}  # fmt: skip


@pytest.fixture
def write(tmp_path):
    (tmp_path / "prices.csv").write_text("hat,45\n")
    (tmp_path / "shop.sql").write_text("CREATE TABLE t (a INT);")
    (tmp_path / "calls.har").write_text(json.dumps(HAR))
    (tmp_path / "requirements.txt").write_text("six==1.16.0\n")

    def written(text):
        path = tmp_path / "fixtures.yaml"
        path.write_text(text)
        return path

    return written


def test_a_whole_file_is_read_with_all_it_names(write):
    shop, rest = load_fixtures(write(WHOLE)).sets
    assert shop.files == {"data/prices.csv": b"hat,45\n", "shop.sql": b"CREATE TABLE t (a INT);"}
    assert shop.database == Database(DatabaseEngine.DUCKDB, "shop.sql", writable=True)
    assert [exchange.url for exchange in shop.http] == ["https://shop.example/a"]
    assert shop.packages == PackageSet(Ecosystem.PIP, ("six==1.16.0",))
    assert (shop.seed, shop.clock_s, dict(shop.cohort)) == (7, 1793523600.0, {"agent": "pricing"})
    assert rest == FixtureSet(name="rest")


def test_a_run_s_set_is_the_one_it_names_else_the_first_that_fits(write):
    book = load_fixtures(write(WHOLE))
    assert book.get_fixture_set(Cohort(agent="pricing")).name == "shop"
    assert book.get_fixture_set(Cohort(agent="other")).name == "rest"
    assert book.get_fixture_set(Cohort(agent="other", fixture_set="shop")).name == "shop"
    with pytest.raises(BadFixture, match="fixture set 'none' is not in it"):
        book.get_fixture_set(Cohort(fixture_set="none"))
    assert FixtureBook().get_fixture_set(Cohort(fixture_set="none")) == FixtureSet()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sets: {a: 1}", "must be `sets:` and a list"),
        ("set: []", "must be `sets:` and a list"),
        ("sets: [1]", r"sets\[0\] must be keys and values"),
        ("sets: [{}]", r"sets\[0\].name must be a text"),
        ("sets: [{name: a, file: x}]", r"sets\[0\].file is no key of a set; known: name, cohort, files"),
        ("sets: [{name: a}, {name: a}]", "two sets are named 'a'"),
        ("sets: [{name: a, cohort: {agnt: x}}]", r"cohort.agnt is no dimension of a cohort; known: project"),
        ("sets: [{name: a, files: {../x: prices.csv}}]", "must be a relative path inside"),
        ("sets: [{name: a, files: {x: none.csv}}]", r"files.x names .*none.csv, which cannot be read"),
        ("sets: [{name: a, database: {engine: oracle}}]", "database.engine must be sqlite or duckdb"),
        ("sets: [{name: a, database: shop.db}]", "database takes `engine`"),
        ("sets: [{name: a, database: {writable: 2}}]", "database.writable must be true or false"),
        ("sets: [{name: a, packages: prices.csv}]", "packages names no pinned packages: .*prices.csv"),
        ("sets: [{name: a, http: prices.csv}]", "prices.csv: not JSON"),
        ("sets: [{name: a, seed: -1}]", "seed must be a number from 0"),
        ("sets: [{name: a, clock: 2026-11-01}]", "clock must be a time with its zone"),
        ("sets: [{name: a, clock: soon}]", "clock must be a time with its zone"),
        (
            "sets: [{name: a, files: {x: /etc/hostname}}]",
            r"files.x cannot be used: .* lies outside",
        ),
        (
            "sets: [{name: a, database: {file: /proc/self/environ}}]",
            r"database.file cannot be .* outside",
        ),
        ("sets: [{name: a, http: /dev/zero}]", r"http cannot be used: '/dev/zero' lies outside"),
        ("sets: [{name: a, packages: ../../r.txt}]", r"packages cannot be used: .* lies outside"),
        ("sets: [", "not valid YAML"),
        ("[" * 100_000, "not valid YAML: nested deeper"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(write, text, words):
    with pytest.raises(BadFixture, match=words) as caught:
        load_fixtures(write(text))
    assert str(caught.value).startswith(str(write(text).parent))


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(BadFixture, match="name a readable UTF-8 file"):
        load_fixtures(tmp_path / "none.yaml")
