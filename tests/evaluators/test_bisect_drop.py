from __future__ import annotations

import random
from collections.abc import Iterable

from spanproof.evaluators.bisect_drop import Dimension, Finding, Observation, compute_bisection


def runs(*groups: tuple[int, float, dict[str, object]]) -> Iterable[Observation]:
    """Groups of runs one after the other: how many, the share that passes, and what they ran on."""
    number = 0
    for count, share, given in groups:
        packages = given.get("packages", {"numpy": "1.0"})
        values = {
            each: str(given.get(each.value, "1")) for each in Dimension if each is not Dimension.PACKAGES
        }
        for index in range(count):
            number += 1
            passed = int((index + 1) * share) > int(index * share)
            yield Observation(f"{number:032x}", number * 10**9, passed, values, packages)


def findings(found) -> dict[str, Finding]:
    return {each.dimension.value: each.finding for each in found.changes}


def test_a_rate_that_does_not_fall_has_no_drop():
    assert compute_bisection(runs((20, 1.0, {}))).drop is None
    assert compute_bisection(runs((10, 0.5, {}), (10, 1.0, {"image": "2"}))).drop is None
    assert compute_bisection(runs((4, 1.0, {}), (4, 0.0, {"image": "2"}))).drop is None, "too few"
    assert compute_bisection([]).drop is None


def test_the_only_dimension_that_changed_is_the_cause_and_the_drop_has_intervals():
    found = compute_bisection(runs((30, 1.0, {}), (30, 0.5, {"image": "2"})))
    assert found.drop is not None
    assert found.drop.is_certain
    assert (found.drop.before.total, found.drop.after.total) == (30, 30)
    assert found.drop.difference.high < 0
    assert findings(found) == {
        "image": Finding.CAUSE,
        "packages": Finding.UNCHANGED,
        "model": Finding.UNCHANGED,
        "prompt": Finding.UNCHANGED,
    }
    assert found.suspect is not None
    assert found.suspect.dimension is Dimension.IMAGE
    assert found.suspect.rates["2"].share == 0.5


def test_what_changed_in_the_same_runs_cannot_be_separated_and_the_image_comes_first():
    found = compute_bisection(runs((30, 1.0, {}), (30, 0.4, {"image": "2", "packages": {"numpy": "2.0"}})))
    assert findings(found)["image"] is findings(found)["packages"] is Finding.TOGETHER
    assert found.suspect.dimension is Dimension.IMAGE
    assert found.suspect.together_with == (Dimension.PACKAGES,)


def test_runs_that_differ_in_one_dimension_alone_separate_two_that_changed():
    found = compute_bisection(
        runs((30, 1.0, {}), (20, 1.0, {"image": "2"}), (30, 0.3, {"image": "2", "model": "m2"}))
    )
    assert findings(found)["model"] is Finding.CAUSE
    assert findings(found)["image"] is Finding.NO_EFFECT
    assert found.suspect.dimension is Dimension.MODEL
    assert found.suspect.contrast.alike_in == {Dimension.IMAGE: "2"}


def test_a_package_that_some_runs_did_not_import_is_no_change():
    found = compute_bisection(
        runs((30, 1.0, {}), (30, 0.4, {"image": "2", "packages": {"numpy": "1.0", "pandas": "2.3"}}))
    )
    assert findings(found)["packages"] is Finding.UNCHANGED
    assert findings(found)["image"] is Finding.CAUSE


def test_only_packages_whose_version_changed_are_named():
    found = compute_bisection(
        runs(
            (30, 1.0, {"packages": {"numpy": "1.0", "rich": "1"}}),
            (30, 0.4, {"packages": {"numpy": "2.0", "rich": "1"}}),
        )
    )
    (packages,) = [each for each in found.changes if each.dimension is Dimension.PACKAGES]
    assert (packages.finding, packages.before, packages.after) == (Finding.CAUSE, "numpy 1.0", "numpy 2.0")


def test_what_is_not_on_the_traces_is_not_called_unchanged():
    found = compute_bisection(
        runs((30, 1.0, {"image": "", "packages": {}}), (30, 0.4, {"image": "", "packages": {}}))
    )
    assert findings(found)["image"] is findings(found)["packages"] is Finding.UNKNOWN
    assert found.suspect is None


def test_chance_is_not_certain():
    draw = random.Random(5)
    certain = 0
    for _ in range(40):
        observations = [
            Observation(f"{n:032x}", n, draw.random() < 0.8, dict.fromkeys(Dimension, "1"), {})
            for n in range(60)
        ]
        drop = compute_bisection(observations).drop
        certain += drop is not None and drop.is_certain
    assert certain <= 6
