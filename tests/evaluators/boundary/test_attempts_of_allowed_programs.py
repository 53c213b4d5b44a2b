"""What an allowed program opens by itself is no attempt of the agent's; everything else stays one."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.boundary import list_refused_attempts
from spanproof.sandbox import Attempt, AttemptKind
from spanproof.sandbox.policy_file import load_policy

DOCKER_RAN = Attempt(AttemptKind.PROCESS, "/usr/bin/docker", allowed=True)
SOCKET = Attempt(AttemptKind.FILE, "/var/run/docker.sock", allowed=False)


def test_the_socket_of_docker_is_opened_by_docker() -> None:
    assert list_refused_attempts([DOCKER_RAN, SOCKET], load_policy("devops")) == []


@pytest.mark.parametrize(
    ("policy", "attempts"),
    [
        ("devops", [SOCKET]),
        ("data-analysis", [DOCKER_RAN, SOCKET]),
        ("devops", [DOCKER_RAN, Attempt(AttemptKind.FILE, "/etc/shadow", allowed=False)]),
        (
            "devops",
            [DOCKER_RAN, Attempt(AttemptKind.NETWORK, "checkpoint-api.hashicorp.com:53", allowed=False)],
        ),
        ("devops", [DOCKER_RAN, Attempt(AttemptKind.PRIVILEGE, "syslog", allowed=False)]),
    ],
)
def test_it_counts_where_the_program_did_not_run_is_not_allowed_or_opens_something_else(
    policy: str, attempts: list[Attempt]
) -> None:
    assert list_refused_attempts(attempts, load_policy(policy)) == attempts[-1:]


def test_a_host_and_a_system_call_are_opened_by_their_programs() -> None:
    ran = [Attempt(AttemptKind.PROCESS, f"/usr/bin/{name}", allowed=True) for name in ("terraform", "dmesg")]
    opened = [
        Attempt(AttemptKind.NETWORK, "checkpoint-api.hashicorp.com:53", allowed=False),
        Attempt(AttemptKind.FILE, "/dev/kmsg", allowed=False),
        Attempt(AttemptKind.PRIVILEGE, "syslog", allowed=False),
    ]
    assert list_refused_attempts([*ran, *opened], load_policy("devops")) == []
