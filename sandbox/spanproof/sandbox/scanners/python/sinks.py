"""Calls that reach beyond the program, and which argument says where.

The lines stand by theme in the modules beside this one. Each line: a resolved name, then effects separated by
`;`. An effect is a kind, a position and a keyword (`read 0 path`), or a kind and a rule (`deny x.y`).
Kinds:

    read write delete permission   a path                       open      a path, by its mode argument
    load                           a path or a URL to read      save      a path or a buffer to write
    url host                       where to connect             address   a (host, port) pair
    shell                          a command line               argv      a program with its arguments
    spawn                          a program, arguments after   code      Python source
    env                            a variable's name            pickle    bytes of a pickle
    sql                            a statement                  dburl     a database's URL
    callback                       a function, its arguments    deny review  whatever the arguments

`self` as position is the object the method is called on.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from spanproof.sandbox.scanners.python import sinks_code, sinks_data, sinks_host, sinks_network


class Effect(NamedTuple):
    """One thing a call does; `position` -1 is the receiver, -2 no argument at all."""

    kind: str
    position: int
    keyword: str


_METHODS = """
to_csv           save 0 path_or_buf
to_excel         save 0 excel_writer
to_parquet       save 0 path
to_feather       save 0 path
to_json          save 0 path_or_buf
to_html          save 0 buf
to_latex         save 0 buf
to_markdown      save 0 buf
to_pickle        save 0 path
to_hdf           save 0 path_or_buf
to_stata         save 0 path
to_xml           save 0 path_or_buffer
to_orc           save 0 path
to_file          save 0 filename
write_csv        save 0 file
write_parquet    save 0 file
write_json       save 0 file
write_html       save 0 file
write_image      save 0 file
tofile           save 0 fid
savefig          save 0 fname
save_model       save 0 fname
executescript    sql 0 sql_script
execute          sql 0 sql
executemany      sql 0 sql
read_sql_query   sql 0 sql
load_extension   deny function.outside
enable_load_extension deny function.outside
read_text        pathself read
read_bytes       pathself read
write_text       pathself write
write_bytes      pathself write
unlink           pathself delete
rmdir            pathself delete
rmtree           delete 0 path
iterdir          pathself read
chmod            pathself permission
extractall       writeopt 0 path
connect          connect 0 address
sendto           addresslast 1 address
submit           callback 0 fn
apply_async      thread 0 func
run_in_executor  callback 1 func
exec_command     deny process.start
run_cell         code 0 raw_cell
run_line_magic   review exec.dynamic
__subclasses__   subclasses
"""


def _parse(table: str) -> dict[str, tuple[Effect, ...]]:
    parsed: dict[str, tuple[Effect, ...]] = {}
    for line in table.strip().splitlines():
        name, _, effects = line.partition(" ")
        parsed[name] = tuple(_effect(part.split()) for part in effects.split(";"))
    return parsed


def _effect(words: list[str]) -> Effect:
    kind = words[0]
    if len(words) == 3:
        return Effect(kind, int(words[1]), words[2])
    return Effect(kind, -1 if kind == "pathself" else -2, words[1] if len(words) > 1 else "")


SINKS: Final = {
    name: effects
    for module in (sinks_host, sinks_data, sinks_network, sinks_code)
    for name, effects in _parse(module.TABLE).items()
}
"""Effects by resolved name."""

METHOD_SINKS: Final = _parse(_METHODS)
"""Effects by method name, where the receiver's class is not known."""
