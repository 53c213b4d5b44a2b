"""The backends that are held to the contract, each with what it needs that this machine has not by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spanproof.sandbox import Evidence, FailureClass, Limits, Sandbox
from spanproof.sandbox.registry import check_availability, list_backends, open_sandbox

from ..sandbox.backends.remote.daytona_service import on_loopback as daytona_on_loopback
from ..sandbox.backends.remote.e2b_service import on_loopback as e2b_on_loopback
from ..sandbox.backends.remote.kubernetes_service import on_loopback as kubernetes_on_loopback
from ..sandbox.backends.remote.modal_service import on_loopback as modal_on_loopback
from .loopback_targets import Receiver, receiving
from .recorded import PLACES, TIER

BACKENDS = ("jail",) if TIER else list_backends()
"""All of ours: one that cannot run here fails its tests."""
DISTINCT = tuple(name for name in BACKENDS if name not in ("daytona", "kubernetes", "modal"))
"""Where the supervisor, or the place that it runs in, is another.

The other three run what `e2b` runs, on machines that they make and reach in ways which their own tests hold.
They are held to each promise, and to no other test of programs and sessions.
"""
SHORT = Limits(wall_s=1.0, cpu_s=1.0)
"""For what never ends by itself; all else ends, however busy the machine is."""
PATIENT = Limits(wall_s=120.0, cpu_s=120.0)


@pytest.fixture(scope="module", params=DISTINCT)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    settings = settings_of(request.param, request)
    missing = check_availability(request.param, settings).missing
    assert not missing, missing
    with open_sandbox(request.param, workers=2, settings=settings) as opened:
        yield opened


@pytest.fixture(scope="module", params=PLACES)
def taped(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The backends that serve recorded calls."""
    backend, more = ("docker", {"runtime": "runsc"}) if request.param == "gvisor" else (request.param, {})
    with open_sandbox(backend, settings={**settings_of(backend, request), **more}) as opened:
        yield opened


def settings_of(backend: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """What a backend needs on this machine, started where it must be."""
    if backend == "docker":
        daemon = request.getfixturevalue("docker_daemon")
        return {"host": daemon.host, "image": daemon.image}
    if backend in ("e2b", "daytona", "kubernetes", "modal"):
        return dict(request.getfixturevalue(f"{backend}_settings"))
    return {"tier": TIER} if backend == "jail" and TIER else {}


def as_recorded(sandbox: Sandbox, failure_class: FailureClass) -> FailureClass:
    """A class that rests on attempts; where they are not recorded, such a program has failed by itself."""
    by_attempts = failure_class in (FailureClass.PERMISSION_DENIED, FailureClass.UNSAFE_OPERATION)
    unrecorded = by_attempts and Evidence.ATTEMPTS not in sandbox.evidence
    return FailureClass.EXCEPTION if unrecorded else failure_class


@pytest.fixture(scope="module")
def e2b_settings() -> Iterator[dict[str, str]]:
    """Settings that lead to an E2B service on the loopback."""
    with e2b_on_loopback() as (_, settings):
        yield settings


@pytest.fixture(scope="module")
def daytona_settings() -> Iterator[dict[str, str]]:
    """Settings that lead to a Daytona service on the loopback."""
    with daytona_on_loopback() as (_, settings):
        yield settings


@pytest.fixture(scope="module")
def kubernetes_settings() -> Iterator[dict[str, str]]:
    """Settings that lead to a cluster on the loopback, whose guest keeps programs apart."""
    with kubernetes_on_loopback() as (_, settings):
        yield {**settings, "rights": "namespaces"}


@pytest.fixture(scope="module")
def modal_settings() -> Iterator[dict[str, str]]:
    """Settings that lead to a Modal service on the loopback."""
    with modal_on_loopback() as (_, settings):
        yield settings


@pytest.fixture
def http() -> Iterator[Receiver]:
    """A target of notifications on the loopback."""
    with receiving() as receiver:
        yield receiver
