"""`spanproof policy`: the presets, and a policy proposed from the traces of a team's own agents."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from spanproof.cli.commands.policy_init import command as init
from spanproof.cli.commands.policy_init import format_yaml_value
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.policy import load_pipeline
from spanproof.cli.output.console import console, select_attributes, write_json
from spanproof.cli.output.listing import build_listing
from spanproof.sandbox.presets import PRESET_NAMES, Preset, get_preset


@click.group("policy")
def command() -> None:
    """What agents may do: presets, and a policy from your own traces."""


command.add_command(init)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def list_presets(as_json: bool) -> int:
    """List the presets: what each allows and denies."""
    presets = [get_preset(name) for name in PRESET_NAMES]
    if as_json:
        write_json({"presets": [select_attributes(preset, "name about allows denies") for preset in presets]})
        return EXIT_PASS
    table = build_listing("preset", "allows", "denies")
    for preset in presets:
        table.add_row(Text(preset.name, style="bold"), Text(preset.allows), Text(preset.denies))
    console.print(table)
    return EXIT_PASS


@command.command("show")
@click.argument("name", metavar="PRESET", type=click.Choice(PRESET_NAMES))
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def show_preset(name: str, as_json: bool) -> int:
    """Show a preset, with the reason of each entry."""
    preset = get_preset(name)
    if as_json:
        entries = [
            {"key": one.key, "values": list(one.values), "reason": one.reason, "removed": one.removed}
            for one in preset.entries
        ]
        write_json({"name": name, "policy": preset.to_document(), "entries": entries})
    else:
        click.echo(format_preset(preset), nl=False)
    return EXIT_PASS


@command.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write a line of JSON per file.")
def check_files(files: tuple[Path, ...], as_json: bool) -> int:
    """Check policy files: keys, values, and what they extend.

    Exit code 2 with the place of the first mistake.
    """
    for file in files:
        load_pipeline(file)
        if as_json:
            write_json({"file": str(file), "valid": True})
        else:
            console.print(Text(f"{file}: a policy"), soft_wrap=True)
    return EXIT_PASS


def format_preset(preset: Preset) -> str:
    """Return a preset as lines of a policy file, with its reasons as comments."""
    lines = [f"# An agent that {preset.about}.", f"name: {preset.name}"]
    for removed in (False, True):
        keys = [key for key in preset.keys if not removed] or list(
            dict.fromkeys(entry.key for entry in preset.entries if entry.removed)
        )
        if removed and keys:
            lines.append("remove:")
        indent = "  " if removed else ""
        for key in keys:
            entries = [one for one in preset.entries if one.key == key and one.removed is removed]
            lines.append(f"{indent}{key}:" if entries else f"{indent}{key}: []")
            for entry in entries:
                lines.append(f"{indent}  # {entry.reason}")
                lines += [f"{indent}  - {format_yaml_value(value, key)}" for value in entry.values]
    return "\n".join(lines) + "\n"
