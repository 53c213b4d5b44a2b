"""Settings of ClickHouse that every query is sent with."""

from __future__ import annotations

FINAL_SETTINGS = {
    # Keys hold the hour of the span, so one key is never in two partitions.
    "do_not_merge_across_partitions_select_final": 1,
    # Indexes are on parts of the key, which all versions of a row share.
    "use_skip_indexes_if_final": 1,
    # Of conditions only those on the key are moved ahead, which all versions of a row meet alike.
    "optimize_move_to_prewhere_if_final": 1,
}
"""With these, reading with FINAL costs what it must."""

EMBEDDED_SETTINGS = {
    # Compiling an expression takes the engine 40 to 130 ms, anew in each process; over 1.5 million scores no
    # query is faster for it.
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
    "compile_sort_description": 0,
}
"""Of queries on an engine within this process."""
