"""The table of the policy presets, and the entries of each with their reasons."""

from __future__ import annotations

from collections.abc import Iterator

from tables import table

from spanproof.sandbox.presets import PRESET_NAMES, Entry, Preset, get_preset


def render() -> str:
    """Return the part of the page."""
    presets = [get_preset(name) for name in PRESET_NAMES]
    rows = (
        (f"[`{one.name}`](#preset-{one.name})", f"{one.about}", one.allows, one.denies) for one in presets
    )
    return "\n".join(
        [table(("preset", "an agent that", "allows", "denies"), rows), *map(_render_preset, presets)]
    )


def _render_preset(preset: Preset) -> str:
    rows = list(_iter_rows(preset))
    return f'### <a id="preset-{preset.name}"></a>`{preset.name}`\n\n{table(("key", "values", "why"), rows)}'


def _iter_rows(preset: Preset) -> Iterator[tuple[str, str, str]]:
    stated = {entry.key for entry in preset.entries}
    for entry in preset.entries:
        yield f"`{_name_key(entry)}`", ", ".join(f"`{value}`" for value in entry.values), entry.reason
    for key in preset.keys:
        if key not in stated:
            yield f"`{key}`", "none", "add yours in a file that extends the preset, where there are some"


def _name_key(entry: Entry) -> str:
    return f"{entry.key}, without" if entry.removed else entry.key
