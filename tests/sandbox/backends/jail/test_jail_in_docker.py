"""The jail in a real container under Docker's default profile: no full tier, and the reduced one holds."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

import spanproof.sandbox

SOURCES = Path(spanproof.sandbox.__file__).parents[2]
INSIDE = textwrap.dedent(
    """
    import json
    from spanproof.sandbox import Exchange, Fixtures, Program, SandboxUnavailable
    from spanproof.sandbox.registry import check_availability, open_sandbox
    found = {}
    try:
        open_sandbox("jail").run(Program("python", "1"))
    except SandboxUnavailable as refused:
        found["refused"] = str(refused)
    found["tier"] = check_availability("jail", {"tier": "reduced"}).tier
    programs = {
        "plain": "print(sum(range(10)))",
        "secret": "open('/proc/1/environ')",
        "host": "import os; os.kill(1, 9)",
        "cache": "import os; os.chmod('/var/cache/fontconfig', 0o755)",
        "network": "import socket; socket.create_connection(('198.51.100.7', 443), 1)",
        "mark": "import os; open('x', 'w'); print(os.getuid(), os.listdir('.'))",
        "recorded": "import urllib.request as u; print(u.urlopen('http://api.example.com/a').read())",
        "unrecorded": "import urllib.request as u; u.urlopen('http://api.example.com/b')",
    }
    fixtures = Fixtures(http=(Exchange("GET", "http://api.example.com/a", body=b"answer"),))
    with open_sandbox("jail", settings={"tier": "reduced"}) as sandbox:
        for name, source in programs.items():
            done = sandbox.run(Program("python", source, fixtures=fixtures))
            attempts = [[one.kind, one.target] for one in done.attempts]
            found[name] = [done.failure_class, done.stdout, attempts, done.tier]
    print(json.dumps(found))
    """
)


@pytest.mark.parametrize("user", ["0:0", "1234:1234"])
def test_the_reduced_tier_runs_under_docker_s_default_profile(docker_daemon: Any, user: str) -> None:
    from docker import DockerClient

    client = DockerClient(base_url=docker_daemon.host)
    try:
        printed = client.containers.run(
            docker_daemon.image,
            ["python3", "-c", INSIDE],
            user=user,
            network_mode="none",
            volumes={str(SOURCES): {"bind": "/srv/spanproof", "mode": "ro"}},
            environment={"PYTHONPATH": "/srv/spanproof", "PYTHONDONTWRITEBYTECODE": "1"},
            tmpfs={"/tmp": "mode=1777"},
            remove=True,
        )
    finally:
        client.close()
    found = json.loads(printed)
    assert "full tier needs user namespace" in found["refused"]
    assert "seccomp profile" in found["refused"]
    assert found["tier"] == "reduced"
    assert found["plain"] == ["ok", "45\n", [], "reduced"]
    assert found["secret"][0] == "permission_denied"
    assert found["host"][0] == "unsafe_operation"
    assert found["cache"] == ["exception", "", [], "reduced"]
    assert found["network"][0] == "permission_denied"
    assert ["network", "198.51.100.7:443"] in found["network"][2]
    call = "GET http://api.example.com/"
    assert found["recorded"] == ["ok", "b'answer'\n", [["network", f"{call}a"]], "reduced"]
    assert found["unrecorded"] == ["permission_denied", "", [["network", f"{call}b"]], "reduced"]
    assert found["mark"][0] == "ok"
    own = found["mark"][1].split()[0]
    assert (own == "1234") is (user != "0:0")
    assert own != "0"
