"""The reference of the command line, made from the commands: docs/cli.md is this text.

In: the command tree. Out: Markdown with every command, its arguments, its options and its batch interface.
`python -m spanproof.cli.reference > docs/cli.md` writes the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

import click

from spanproof.cli.app import app

_INTRODUCTION = """\
# Command line

`python -m spanproof.cli.reference` prints this page; a test compares the two.

Results go to stdout, everything else (progress, warnings, errors) to stderr. With `--json`, stdout holds JSON
and nothing else. There is no colour where the output is no terminal or `NO_COLOR` is set; `COLUMNS` sets the
width. An error is one message that names the input, the place and the remedy.

| exit code | means |
|---|---|
| 0 | pass |
| 1 | a gate failed: `gate`, `suite run`, `scan` of a file that is denied, `sandbox run` of a file that \
fails, `doctor` where the minimum is missing |
| 2 | misuse, input that could not be read in full (the rest was processed), or an internal error |
| 130 | ended by Ctrl-C; `serve` drains instead |
| 141 | the output was not read to its end (as in `… \\| head -1`) |

## Batch interfaces

JSON Lines on stdin, one JSON line out per line in, in the same order. An answer is flushed as soon as it and
those before it are done, so that a program may wait for it before it sends the next line. The answer to a bad
line is `{"id": …, "error": "…"}` and the rest goes on; stderr counts the bad ones. The exit code is 0,
also where lines were bad and whatever the verdicts are. The `id` comes back as it was given; a field with `?`
may be left out. Lone surrogates come back as U+FFFD.

| command | in | out |
|---|---|---|
| `scan --jsonl` | `id`, `language`, `source` | `id`, `verdict` (`allow`, `review`, `deny`), `findings` \
[`rule`, `severity`, `verdict`, `line`, `column`, `end_line`, `end_column`, `message`, \
`remedy`], `elapsed_us` |
| `detect --jsonl` | `id`, `text` | `id`, `snippets` [`language`, `source`, `start`, `end`] |
| `sandbox run --jsonl` | `id`, `language`, `source`, `timeout_s`?, `tests`?, `entry_point`?, `stdin`?, \
`files`? {path: text or {`base64`}}, `seed`?, `clock`? {`start_s`, `rate`?}, `http`? (a HAR document), \
`packages`? {`ecosystem` (`pip`, `npm`), `pins` [text]}, `database`? {`engine` (`sqlite`, `duckdb`), \
`file`?, `writable`?} | `id`, `failure_class`, `exit_code`, `signal`, `stdout`, `stderr`, `wall_s`, `cpu_s`, \
`peak_memory_bytes`, `attempts` [`kind`, `target`, `allowed`], `tests_passed`, `tests_total`; of SQL also \
`result` {`columns`, `rows`, `cut`} or null |
| `replay --jsonl` | `id`, `steps` [code], `tools`? {name: [parameter]}, `tape`? [`tool`, `args`?, \
`kwargs`?, `result` or `error` {`type`, `message`}] | `id`, `steps` [`failure_class`, `stdout`, \
`result`, `exception` {`type`, `message`} or null, `divergences` [`tool`, `args`, `kwargs`, `reason`], and \
where they apply `ended_interpreter`, `lost_steps` [number], `stdout_cut`, `result_characters`; \
see [replay](replay.md#from-a-script)] |
| `score groundedness --jsonl` | `id`, `task`?, `outputs` [text or JSON], `answer`, `now`? | `id`, `verdict` \
(`grounded`, `contradicted`, `uncertain`), `value`, `claims` [`text`, `start`, `end`, `kind`, `verdict`, \
`reason`, `evidence`] |
| `score trajectory --jsonl` | `id`, `task`, `steps` [`code`, `observation`, `error`], `final_answer` | \
`id`, `recovered` (null where nothing failed), `loop`, `steps_wasted`, `execution_failures`, `scores` {name: \
value} |
| `score custom FILE --jsonl` | `id`, `completion`, `target`?, `variables`? {name: value} | `id`, `score`, \
`explanation`; a function that fails gives `error`, one that has nothing to score a null `score` and \
`skipped` (why) |
| `judge compare --jsonl` | `id`, `task`, `first`, `second` | `id`, `preference` (`first`, `second`, `tie`), \
`consistent` (both orders gave the same), `reasoning` |

`eval --json FILE…` writes a line per trace: `trace_id`, `file`, `runs` [`span_id`, `name`, \
`cohort` {dimension: value, those the trace has}, `scores` \
[`layer`, `name`, `span_id`, `outcome` (`scored`, `skipped`, `errored`), `value`, `raw` and \
`unit` (of a metric the amount and its unit, else null), `label` (`pass`, \
`fail` or null), `explanation`, `reason`]], `spans`, `code_bearing_span_ids`, `defects` (what is wrong with \
the shape of the trace: `missing_parent`, `parent_cycle`, `several_roots`, `no_root`, `duplicate_span_ids`, \
`dropped_attributes`).
"""


def reference() -> str:
    """Return the whole page."""
    root = click.Context(app, info_name="spanproof")
    return "\n".join([_INTRODUCTION, *_sections(root)])


def _sections(context: click.Context) -> Iterator[str]:
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _sections(below)
        else:
            yield _section(below)


def _section(context: click.Context) -> str:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    rows = [
        f"| `{_spelling(option, context)}` | {_default(option, context)} | {option.help or ''} |"
        for option in command.params
        if isinstance(option, click.Option)
    ]
    return "\n".join(
        [
            f"## `{context.command_path.removeprefix('spanproof ')}`",
            "",
            cleandoc(command.help or ""),
            "",
            "```sh",
            usage,
            "```",
            "",
            "| option | default | meaning |",
            "|---|---|---|",
            *(row.replace("\n", " ") for row in rows),
            "",
        ]
    )


def _spelling(option: click.Option, context: click.Context) -> str:
    names = ", ".join(option.opts)
    if option.is_flag:
        return names
    return f"{names} {option.make_metavar(context)}".replace("|", "\\|")


def _default(option: click.Option, context: click.Context) -> str:
    if option.required:
        return "required"
    defaults = [f"`{option.envvar}`"] if option.envvar else []
    if option.show_default and not option.is_flag:
        defaults.append(f"`{option.get_default(context, call=False)}`")
    return ", else ".join(defaults)


if __name__ == "__main__":
    click.echo(reference(), nl=False)
