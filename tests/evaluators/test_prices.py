"""Prices by provider: a file extends the shipped list, the user's own come first, old ones are reported."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from spanproof.config.model import ConfigError, load_config
from spanproof.evaluators.prices import MAX_AGE_DAYS, Price, PriceError, find_price, load_prices

FILE = """
acme:
  as_of: 2026-03-01
  models:
    acme-large-2026-02-01: [1.5, 6]
    gpt-4.1-2025-04-14: [9, 9]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(FILE)
    return path


def test_a_file_extends_the_shipped_list_and_own_prices_come_first(file: Path, tmp_path: Path) -> None:
    config = tmp_path / "spanproof.yaml"
    config.write_text(f"judge: {{price_file: {file}, prices: {{acme-large-2026-02-01: [1, 2]}}}}\n")
    prices = load_config(config, {}).judge.load_prices()
    assert find_price("acme-large-2026-02-01", prices) == Price(1, 2)
    assert find_price("gpt-4.1-2025-04-14", prices) == Price(9, 9, "acme", date(2026, 3, 1))
    assert find_price("gpt-4o-2024-08-06", prices).provider == "openai"
    assert find_price("gpt-5-by-nobody", prices) is None


def test_every_shipped_price_has_its_provider_and_its_day() -> None:
    for model in ("claude-sonnet-4-20250514", "gemini-2.0-flash-001", "mistral-large-2411"):
        price = find_price(model, {})
        assert price is not None
        assert price.provider
        assert price.as_of is not None


def test_an_old_price_is_reported() -> None:
    price = Price(1, 2, "acme", date(2026, 3, 1))
    assert price.describe_age(date(2026, 3, 1) + timedelta(days=MAX_AGE_DAYS)) == ""
    sentence = price.describe_age(date(2026, 3, 1) + timedelta(days=MAX_AGE_DAYS + 1))
    assert sentence.startswith("the price is that of acme on 2026-03-01, 181 days ago")
    assert Price(1, 2).describe_age(date(2099, 1, 1)) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("acme: {models: {}}", "acme.as_of: Field required; expected are providers by name"),
        ("acme: {as_of: 2026-03-01, models: {m: [1]}}", "acme.models.m.1"),
        ("- 1", "the file: Input should be a valid dictionary"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_file_in_another_form_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(PriceError, match=message):
        load_prices(path)
    config = tmp_path / "spanproof.yaml"
    config.write_text(f"judge: {{price_file: {path}}}\n")
    with pytest.raises(ConfigError, match=message):
        load_config(config, {})
