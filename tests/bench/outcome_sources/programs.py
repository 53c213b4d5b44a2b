"""Outputs of programs: shells, interpreters, package managers, compilers; the exit status is the label."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from outcome_sources import DOMAINS, Output, pick

SHELL_TOOLS = ("bash", "shell", "terminal", "run_command", "execute_command")
MAX_CHARS = 3_000

LOG = """2026-03-04 10:01:07,113 INFO worker started
2026-03-04 10:01:09,402 ERROR {table}: could not connect to server: Connection refused
2026-03-04 10:01:09,403 ERROR Traceback (most recent call last):
  File "app/{table}.py", line 41, in load
    raise ConnectionError("database is down")
ConnectionError: database is down
2026-03-04 10:02:11,000 WARNING retry 1 of 3 for {table}
2026-03-04 10:02:14,250 INFO {table}: 17 rows read, 2 failed
2026-03-04 10:05:00,001 FATAL out of memory: Killed process 812
"""
HANDLER = '''"""Reading {table}."""


class {name}Error(Exception):
    """Raised when {table} cannot be read."""


def load_{table}(path):
    try:
        return open(path).read()
    except FileNotFoundError as error:
        print(f"Error: {table} not found: {{error}}")
        raise {name}Error("could not read {table}") from error
'''
DOC = """# Troubleshooting {table}

Error: could not connect to server
    The server is not running. Start it and try again.

Permission denied
    Your user may not read `{table}`. Ask for access.

## Exit codes
exit code: 1 means that the load failed, exit code: 2 that the file was not found.
"""


def in_folder(
    commands: Iterable[str],
    tools: tuple[str, ...],
    *,
    interpreter: tuple[str, ...] = ("bash", "-c"),
    language: str | None = None,
    empty: bool = False,
) -> Iterator[Output]:
    """What commands print, each in a folder of its own with a few files, as tools return it."""
    for command in commands:
        with tempfile.TemporaryDirectory(prefix="run-", dir="/var/tmp") as folder:
            fill(Path(folder))
            env = {
                "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/usr/local/go/bin:"
                + os.environ.get("CAPTURE_PATH", ""),
                "HOME": folder,
                "LANG": "C.UTF-8",
                "PIP_NO_INDEX": "1",
                "npm_config_offline": "true",
                "npm_config_registry": "https://registry.example.com/",
                "npm_config_update_notifier": "false",
                "GIT_CONFIG_NOSYSTEM": "1",
            }
            done = subprocess.run(
                [*interpreter, command], cwd=folder, env=env, capture_output=True, text=True, timeout=60
            )
            text = (done.stdout + done.stderr).replace(folder, "/home/agent/project")
        if done.returncode == 1 and command.startswith(("grep", "diff", "test")) and not done.stderr:
            continue
        if not text.strip() and not empty:
            continue
        given = shown(text, done.returncode, command)
        if done.returncode and not done.stderr.strip() and given == text.strip():
            continue  # it failed and said nothing of it: nothing in the text can show that
        of_shell = command if interpreter[0] == "bash" and pick((True, True, False), command, "known") else ""
        yield Output(pick(tools, command), given, label(text, done), language, of_shell)


def label(text: str, done: subprocess.CompletedProcess[str]) -> str:
    """The label by the exit status."""
    if done.returncode:
        return "failed"
    return "ok" if text.strip() else "empty"


def shown(text: str, status: int, seed: str) -> str:
    """The output as one of the usual tools returns it: bare, with its exit status, as JSON."""
    text = text.strip()
    if len(text) > MAX_CHARS:
        text = f"{text[: MAX_CHARS // 2]}\n[...]\n{text[-MAX_CHARS // 2 :]}"
    form = pick(("bare", "bare", "bare", "last", "first", "json", "tags"), seed, "form")
    if form == "last" and status:
        return f"{text}\n" + pick(
            ("Exit code: {}", "[exit code: {}]", "Command exited with code {}"), seed
        ).format(status)
    if form == "first":
        return f"Exit code: {status}\n{text}"
    if form == "json":
        key = pick(("exit_code", "returncode", "exitCode"), seed)
        return json.dumps({"stdout": "" if status else text, "stderr": text if status else "", key: status})
    if form == "tags":
        return f"<stdout>{text}</stdout>\n<exit_code>{status}</exit_code>"
    return text


def fill(folder: Path) -> None:
    """Write the files that commands work on."""
    for d in DOMAINS:
        (folder / f"{d.table}.csv").write_text(
            "\n".join([f"{d.key},{d.number},{d.text}", *(",".join(map(str, row)) for row in d.rows)]) + "\n"
        )
        (folder / f"{d.table}.log").write_text(LOG.format(table=d.table))
        (folder / f"{d.table}.py").write_text(HANDLER.format(table=d.table, name=d.table.title()))
        (folder / f"{d.table}.md").write_text(DOC.format(table=d.table))
    (folder / "broken.json").write_text('{"error": ')
    (folder / "locked.txt").write_text("secret")


def bash() -> Iterator[Output]:
    """Commands of a shell, right and wrong."""
    failing = [
        "cat {t}.txt",
        "ls {t}_archive",
        "cd {t} && ls",
        "rm {t}.bak",
        "cp {t}.csv /nowhere/{t}",
        "mkdir {t}.csv",
        "./{t}.sh",
        "chmod +x {t}.exe",
        "mv {t}.old {t}.new",
        "head -n 5 {t}.tsv",
        "grep total {t}.txt",
        "{t}ctl status",
        "wc -l {t}.data",
        "source {t}.env",
        "tail -f {t}.out",
        "sort -k x {t}.csv",
        "cut {t}.csv",
        "for f in {t}.csv; do",
        "echo $(( 1 / 0 ))",
        "if [ -f {t}.csv ]; then echo",
        "unzip {t}.zip",
        "touch /proc/{t}/x",
        "set -u; echo $UNSET_{t}",
        "ls --{t}",
        "exit 3; echo {t}",
        "kill 999999",
        "rmdir {t}.csv",
        "ln -s a",
        "cat {t}.csv | nosuch{t}",
        "echo start {t}; cat {t}.nope",
        "python3 {t}_missing.py",
        "find {t}_dir -name x",
    ]
    fine = [
        "cat {t}.csv",
        "cat {t}.log",
        "grep ERROR {t}.log",
        "grep -n -i error {t}.log",
        "tail -n 4 {t}.log",
        "cat {t}.py",
        "head -n 9 {t}.md",
        "grep -rn Error {t}.py {t}.md",
        "sed -n 3,9p {t}.py",
        "awk -F, '{{print $3}}' {t}.csv",
        "wc -l {t}.log",
        "ls",
        "grep -c ERROR {t}.log",
        "cat {t}.md",
        "tail -n 1 {t}.log",
        "grep Traceback -A 4 {t}.log",
        "cat {t}.nope 2>/dev/null || echo fallback {t}",
        "echo 'error: {t} is a word'",
        "tail -n 3 {t}.md",
        "sort {t}.log | tail -n 2",
        "cat {t}.nope {t}.csv || true",
        "echo 'FAILED: 0'",
        "date +%Y > /dev/null; echo done {t}",
    ]
    for d in DOMAINS:
        for part in (failing, fine):
            for at, command in enumerate(part):
                if (at + len(d.table)) % 4 == 0:
                    yield from in_folder(
                        [command.format(t=d.table)], SHELL_TOOLS, language=pick((None, "bash"), command)
                    )


def python() -> Iterator[Output]:
    """Python scripts, right and wrong."""
    failing = [
        "open('{t}.txt')",
        "import {t}_client",
        "rows = [1]; print(rows[5])",
        "{{}}['{t}']",
        "int('{t}')",
        "1 / 0",
        "print({t}",
        "print(undefined_{t})",
        "None.{t}",
        "import json; json.load(open('broken.json'))",
        "raise SystemExit(2)",
        "import sys; sys.exit('could not load {t}')",
        "assert False, '{t} is empty'",
        "raise TimeoutError('{t} took too long')",
        "class {n}Failed(Exception): pass\nraise {n}Failed('no rows')",
        "print('reading {t}')\nopen('/nope/{t}')",
        "def f(): return f()\nf()",
        "'a' + 1",
        "import urllib.request as u\nu.urlopen('http://127.0.0.1:1/{t}')",
        "import subprocess\nsubprocess.run(['false', '{t}'], check=True)",
        "  x = 1",
        "len(5)",
        "raise ExceptionGroup('{t}', [ValueError('a'), KeyError('b')])",
        "import {t}",
        "x: int = '1' // 2",
        "try:\n    open('{t}')\nexcept OSError as e:\n    raise RuntimeError('no {t}') from e",
    ]
    fine = [
        "print(open('{t}.log').read())",
        "print(open('{t}.py').read())",
        "import csv\nfor r in csv.DictReader(open('{t}.csv')): print(r)",
        "try:\n    open('nope')\nexcept OSError as e:\n    print('skipped:', e)\nprint('rows', 3)",
        "print('Errors: 0')",
        "print('Mean absolute error:', 3.12)",
        "import warnings; warnings.warn('{t} is deprecated'); print(42)",
        "print([ValueError('{t}')])",
        "import logging; logging.error('{t} retry'); print('total 45.0')",
        "print({{'error': None, 'rows': 3}})",
        "print('standard error of {t}: 0.41')",
        "print('failed', 3, 'passed', 9)",
        (
            "import json; print(json.dumps([{{'id': 1, 'status': 'failed', 'error': 'timeout'}}, {{'id': 2,"
            " 'status': 'ok', 'error': None}}]))"
        ),
        "help(FileNotFoundError) if False else print(FileNotFoundError.__doc__)",
        "print('404 pages of {t}')",
        "print(__import__('traceback').__doc__, 'lines')",
        "import inspect, json.decoder as m; print(inspect.getsource(m.JSONDecodeError)[:600])",
        "print('Error bars: 1.2 to 3.4')",
        "print(sum([120.5, 33.25]))",
    ]
    for d in DOMAINS:
        for part in (failing, fine):
            for at, source in enumerate(part):
                if (at + len(d.table)) % 4 == 1:
                    code = source.format(t=d.table, n=d.table.title())
                    yield from in_folder(
                        [code],
                        ("python_repl", "run_python", "python", "code_interpreter"),
                        interpreter=("/usr/bin/python3", "-W", "default", "-c"),
                    )


def node() -> Iterator[Output]:
    """JavaScript programs, right and wrong."""
    failing = [
        "require('./{t}')",
        "require('{t}-client')",
        "JSON.parse('{{{t}')",
        "null.{t}",
        "undefined_{t}()",
        "throw new Error('{t} is down')",
        "throw {{ code: 'E_{t}' }}",
        "process.exit(4)",
        "console.log('start {t}'); process.exit(1)",
        "require('fs').readFileSync('{t}.txt')",
        "const x = ;",
        "Promise.reject(new TypeError('{t}'))",
        "fetch('http://127.0.0.1:1/{t}').then(r => r.json())",
        "new Array(-1)",
        "const a = 1; a = 2",
        "import x from '{t}'",
        "class E extends Error {{}}; throw new E('{t}')",
        "console.error('{t} failed'); process.exitCode = 2",
        "await {t}()",
        "[].reduce((a, b) => a + b)",
        "BigInt('{t}')",
        "decodeURIComponent('%')",
    ]
    fine = [
        "console.log(require('fs').readFileSync('{t}.log', 'utf8'))",
        "console.log({{ error: null, rows: 3 }})",
        "console.log(new Error('{t}').message)",
        "console.log([{{ id: 1, error: 'timeout' }}, {{ id: 2, error: null }}])",
        "try {{ null.x }} catch (e) {{ console.log('skipped: ' + e.message) }} console.log('rows 4')",
        "console.log('Errors: 0, warnings: 2')",
        "console.table([{{ status: 'failed', n: 3 }}, {{ status: 'ok', n: 9 }}])",
        "console.log(String(RangeError))",
        "process.emitWarning('{t} is old'); console.log(42)",
        "console.log(JSON.stringify({{ status: 'ok', failed: 0 }}))",
        "console.log('TypeError is a kind of Error')",
        "console.log(require('fs').readFileSync('{t}.py', 'utf8'))",
        "console.log(require('fs').readFileSync('{t}.md', 'utf8'))",
    ]
    for d in DOMAINS:
        for part in (failing, fine):
            for at, source in enumerate(part):
                if (at + len(d.table)) % 3 == 0:
                    yield from in_folder(
                        [source.format(t=d.table)],
                        ("node", "run_javascript", "js_interpreter", "execute_code", "terminal"),
                        interpreter=("node", "-e"),
                    )


def git() -> Iterator[Output]:
    """git in a small repository."""
    setup = (
        "git init -q -b main . && git config user.email a@example.com && git config user.name A && git"
        " add {t}.py {t}.csv"
        " && git commit -q -m 'Fix error: {t} not found' && echo x >> {t}.py && git commit -qam 'fatal:"
        " handle failed {t}' && "
    )
    failing = [
        "git checkout nowhere-{t}",
        "git log nowhere-{t}",
        "git push",
        "git pull",
        "git merge nowhere",
        "git branch main",
        "git add {t}.txt",
        "git rebase nowhere",
        "git show deadbeef",
        "git stash pop",
        "git remote rename a b",
        "git clone /nowhere/{t}.git",
        "git frobnicate",
        "git commit -m '{t}'",
        "git rm {t}.txt",
        "git mv {t}.txt a",
        "git apply {t}.csv",
        "git cherry-pick zzz",
        "git reset --hard nowhere",
        (
            "git checkout -q -b side && echo a > {t}.py && git commit -qam a && git checkout -q main && echo"
            " b > {t}.py && git commit -qam b && git merge side"
        ),
        "git fetch https://127.0.0.1:1/{t}.git",
        "git tag -d v9",
        "git config --get nothing.{t} || git diff --bad-option",
    ]
    fine = [
        "git log",
        "git log --oneline",
        "git show HEAD",
        "git diff HEAD~1",
        "git status",
        "git grep -n Error",
        "git log -p --format=%s",
        "git show --stat",
        "git blame {t}.py",
        "git checkout -b fix-error-{t}",
        "git log --grep=error --format='%s'",
        "git stash list; git branch",
        "git show HEAD~1:{t}.py",
        "git commit --allow-empty -m 'Error: retry {t}'",
        "git tag failed-{t} && git tag",
    ]
    for d in DOMAINS:
        for part in (failing, fine):
            for at, command in enumerate(part):
                if (at + len(d.table)) % 4 == 2:
                    yield from in_folder([(setup + command).format(t=d.table)], ("git", *SHELL_TOOLS))


def pip() -> Iterator[Output]:
    """pip without an index."""
    failing = [
        "pip install {t}-client",
        "pip install ./{t}",
        "pip install -r {t}.txt",
        "pip download {t}",
        "pip show {t}-client",
        "pip install {t}==",
        "pip instal {t}",
        "pip install {t}-1.0-py3-none-any.whl",
        "pip uninstall -y",
        "pip install --no-such-option {t}",
        "pip install {t}.csv",
        "pip install git+file:///nowhere/{t}",
        "pip hash {t}.whl",
        "pip config get {t}.x",
    ]
    fine = [
        "pip --version",
        "pip list",
        "pip help install | head -n 30",
        "pip show pip",
        "pip freeze --all",
        "pip uninstall -y {t}-client",
        "pip check",
    ]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for d in DOMAINS:
            for part in (failing, fine):
                for at, command in enumerate(part):
                    if (at + len(d.table)) % 3 == 0:
                        yield from in_folder(
                            [f"PATH={folder}/bin:$PATH; " + command.format(t=d.table)],
                            ("pip", "install_package", *SHELL_TOOLS),
                        )


def npm() -> Iterator[Output]:
    """npm without a registry."""
    failing = [
        "npm install {t}-client",
        "npm run {t}",
        "npm ci",
        "npm test",
        "npm view {t}-client",
        "npm start",
        "npm frobnicate",
        "npm install ./{t}",
        "npm exec {t}-tool",
        "npm publish",
        "node {t}.js",
        "npx --no {t}-tool",
        "npm pack {t}-x",
    ]
    scripts = '{{"bad": "exit 3", "good": "echo 0 errors", "lint": "node -e \\"throw new Error(1)\\""}}'
    package = f'echo \'{{{{"name": "{{t}}", "version": "1.0.0", "scripts": {scripts}}}}}\' > package.json; '
    more = ["npm run bad", "npm run lint", "npm run nope", "npm install zzz@^9 {t}"]
    fine = [
        "npm run good",
        "npm run",
        "npm --version",
        "npm ls",
        "npm pkg get scripts",
        "npm help error 2>&1 | head -n 20",
        "cat package.json",
        "npm init -y",
    ]
    for d in DOMAINS[:6]:
        for at, command in enumerate(
            (*failing, *(package + each for each in more), *(package + each for each in fine))
        ):
            if (at + len(d.table)) % 3 == 0:
                yield from in_folder([command.format(t=d.table)], ("npm", *SHELL_TOOLS))


def compilers() -> Iterator[Output]:
    """make, gcc, go, Java and Perl."""
    sources = {
        "c": "int main(void) {{ return undefined_{t}; }}",
        "go": "package main\nfunc main() {{ x := {t} }}\n",
        "java": 'class A {{ int f() {{ return "{t}"; }} }}',
        "pl": "use strict; $x = '{t}'; die 'no {t}';",
    }
    commands = [
        ("gcc a.c", "c"),
        ("gcc nope_{t}.c", "c"),
        ("go vet a.go", "go"),
        ("go run a.go", "go"),
        ("javac A.java", "java"),
        ("perl a.pl", "pl"),
        ("make {t}", "c"),
        ("printf 'all:\\n\\tfalse {t}\\n' > Makefile; make", "c"),
        ("perl -e 'die \"{t} failed\\n\"'", "pl"),
        ("printf 'all:\\n\\tcat {t}.txt\\n' > Makefile; make", "c"),
        ("gcc -c a.c -o /nowhere/{t}.o", "c"),
        ("perl -MNo::{n} -e 1", "pl"),
    ]
    fine = [
        "printf 'all:\\n\\techo 0 errors in {t}\\n' > Makefile; make",
        "printf 'int main(void) {{ int error; return 0; }}' > b.c; gcc -Wall b.c",
        "perl -ne 'print if /ERROR/' {t}.log",
        "perl -e 'print \"error {t}: none\\n\"'",
        "gcc --help | grep -i error | head",
        "make --help | tail -n 12",
    ]
    for d in DOMAINS:
        for at, (command, kind) in enumerate(commands):
            if (at + len(d.table)) % 3 == 0:
                code = sources[kind].format(t=d.table).replace("'", "'\\''")
                name = "A.java" if kind == "java" else f"a.{kind}"
                full = (
                    f"printf '%s' '{code}' > {name}; export GOCACHE=$HOME/.c GO111MODULE=off; "
                    + command.format(t=d.table, n=d.table.title())
                )
                yield from in_folder([full], ("build", *SHELL_TOOLS))
        yield from in_folder((each.format(t=d.table) for each in fine), ("build", *SHELL_TOOLS))


def utilities() -> Iterator[Output]:
    """jq, curl, tar, awk, find, wget and others."""
    failing = [
        "jq .x broken.json",
        "jq '.{t' {t}.csv",
        "curl http://127.0.0.1:1/{t}",
        "curl -sSf http://db.invalid/{t}",
        "wget -q http://127.0.0.1:1/{t} || wget http://127.0.0.1:1/{t}",
        "tar xf {t}.tar",
        "tar xf {t}.csv",
        "awk '{{print' {t}.csv",
        "sed 's/a' {t}.csv",
        "find . -nosuch",
        "gzip -d {t}.csv",
        "base64 -d {t}.md",
        "xargs -x {t}",
        "bc {t}.nope",
        "ssh {t}.invalid true",
        "dd if={t}.nope of=x",
        "timeout 0.1 sleep 2; exit $?",
        "kubectl get pods",
        "docker ps",
        "chown nobody1 {t}.csv",
        "mount /dev/{t} /mnt",
        "iconv -f nope {t}.csv",
        "openssl x509 -in {t}.csv",
        "python3 -m {t}",
        "python3 -m json.tool broken.json",
        "seq a {t}",
        "install -d",
        "split {t}.nope",
        "env {t}-x",
    ]
    fine = [
        'echo \'{{"error": null, "rows": 3}}\' | jq .',
        "echo '[{{\"error\": \"x\"}}]' | jq '.[0]'",
        "find . -name '*error*' -o -name '{t}.log'",
        "awk '/ERROR/ {{print}}' {t}.log",
        "sed -n '/def/,$p' {t}.py",
        "uniq -c {t}.log",
        "curl --help | head -n 20",
        "tar cvf x.tar {t}.log",
        "diff {t}.csv {t}.csv && echo same",
        "man -k error 2>/dev/null | head -n 3; echo end {t}",
        'python3 -m json.tool <<< \'{{"status": "failed", "jobs": [1, 2]}}\'',
        "nl {t}.md",
        "tac {t}.log",
        "cut -c1-60 {t}.log",
        "tail -n +6 {t}.log",
        "grep -h Error *.log | sort -u",
    ]
    for d in DOMAINS:
        for part in (failing, fine):
            for at, command in enumerate(part):
                if (at + len(d.table)) % 3 == 1:
                    yield from in_folder(
                        [command.replace("{t}", d.table).replace("{{", "{").replace("}}", "}")],
                        (*SHELL_TOOLS, "run"),
                    )
