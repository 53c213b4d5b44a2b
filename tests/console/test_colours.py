"""Verdicts differ in colour for three colour-vision deficiencies, and are never shown by colour alone."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[2] / "collector" / "console" / "src" / "tokens.css"
VERDICTS = ("pass", "fail", "open", "errored", "ink-2")
LEAST_DIFFERENCE = 12.0
"""In CIELAB; from about 2.3 on, colours side by side are seen to differ."""

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
SEEN = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)


def multiply(matrix, vector):
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def linear(colour: str) -> tuple[float, ...]:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)


def lab(light: tuple[float, ...]) -> tuple[float, float, float]:
    at = [
        (each / white) ** (1 / 3) if each / white > 0.008856 else 7.787 * each / white + 16 / 116
        for each, white in zip(multiply(XYZ, [min(1, max(0, each)) for each in light]), WHITE, strict=True)
    ]
    return 116 * at[1] - 16, 500 * (at[0] - at[1]), 200 * (at[1] - at[2])


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("seen", SEEN)
def test_verdicts_differ(seen, theme):
    tokens = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", TOKENS.read_text()))
    colours = {name: lab(multiply(SEEN[seen], linear(tokens[name].split(", ")[theme]))) for name in VERDICTS}
    near = {
        pair: round(difference, 1)
        for pair in itertools.combinations(VERDICTS, 2)
        if (
            difference := sum((a - b) ** 2 for a, b in zip(*(colours[each] for each in pair), strict=True))
            ** 0.5
        )
        < LEAST_DIFFERENCE
    }
    assert not near


SURFACES = dict.fromkeys(VERDICTS, ("paper", "paper-2")) | {
    name: ("paper", "paper-2", f"{name}-paper") for name in ("pass", "fail", "open", "errored")
}
"""What is behind the text of a verdict."""
LEAST_CONTRAST = 4.5
"""Of text, as WCAG 2.2 wants it at level AA."""


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_word_of_a_verdict_is_readable(theme):
    tokens = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", TOKENS.read_text()))
    luminance = {name: multiply(XYZ, linear(pair.split(", ")[theme]))[1] for name, pair in tokens.items()}
    faint = {
        (ink, paper): round(contrast, 2)
        for ink, papers in SURFACES.items()
        for paper in papers
        if (contrast := contrast_of(luminance[ink], luminance[paper])) < LEAST_CONTRAST
    }
    assert not faint


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_lit_evidence_is_readable(theme):
    tokens = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", TOKENS.read_text()))
    mark, ink, paper = (
        multiply(XYZ, linear(tokens[name].split(", ")[theme]))[1] for name in ("mark", "mark-ink", "paper")
    )
    assert contrast_of(ink, mark) >= LEAST_CONTRAST
    # The outline shows where it is, also to who does not see the yellow.
    accent = multiply(XYZ, linear(tokens["accent"].split(", ")[theme]))[1]
    assert contrast_of(accent, paper) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lit_evidence_has_its_colours(open_page, scheme):
    page = open_page("/traces/" + "5" * 32, scheme=scheme)
    page.locator(".claim.contradicted").click()
    ink, paper = page.locator("mark.lit").first.evaluate(
        "each => [getComputedStyle(each).color, getComputedStyle(each).backgroundColor]"
    )
    light = [
        multiply(XYZ, linear("#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])))[1]
        for colour in (ink, paper)
    ]
    assert contrast_of(*light) >= LEAST_CONTRAST


def contrast_of(first: float, second: float) -> float:
    """Return the contrast ratio of two relative luminances."""
    low, high = sorted((first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "path",
    ["/traces", "/traces/" + "5" * 32, "/traces/" + "4" * 32, "/?hours=8784&by=agent", "/suites/prices"],
)
def test_no_verdict_is_shown_by_colour_alone(open_page, path):
    page = open_page(path)
    page.locator(".verdict:visible").first.wait_for()
    bare = page.evaluate(
        """() => [...document.querySelectorAll('main .verdict')]
            .filter((each) => !/[✓✗?–!▲▼=%]|skipped|errored/u.test(each.textContent))
            .map((each) => each.outerHTML.slice(0, 150))"""
    )
    assert not bare
