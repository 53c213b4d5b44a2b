"""Programs in Jobs: what is made in the service, what is reported, and what happens where it fails."""

from __future__ import annotations

import os

import pytest

from spanproof.sandbox import (
    BadSetting,
    Exchange,
    FailureClass,
    Fixtures,
    Limits,
    Program,
    SandboxBroken,
    SandboxUnavailable,
    SessionSpec,
    ToolAnswer,
    ToolStub,
    UnsupportedFixtures,
)
from spanproof.sandbox.backend import Evidence
from spanproof.sandbox.backends.kubernetes import KubernetesSandbox
from spanproof.sandbox.backends.self_check.promises import PROMISES, evaluate_promise

from .kubernetes_service import NAMESPACE, Cluster, on_loopback

__all__ = ["on_loopback"]  # for the fixture `served`

HELLO = Program("python", "print('hello')")
Settings = dict[str, str]


def test_a_pod_has_no_right_no_account_and_no_network_and_ends_with_the_sandbox(
    service: Cluster, settings: Settings
) -> None:
    with KubernetesSandbox(**settings, runtime_class="kata-fc", memory="512Mi") as sandbox:
        for _ in range(2):
            ran = sandbox.run(HELLO)
            assert (ran.failure_class, ran.stdout, ran.attempts) == (FailureClass.OK, "hello\n", ())
    first, second = service.created
    assert first["metadata"]["name"] != second["metadata"]["name"], "nothing keeps programs apart in a pod"
    pod = first["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["runtimeClassName"] == "kata-fc"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["runAsNonRoot"] is True
    assert container["resources"]["limits"]["memory"] == "512Mi"
    (policy,) = service.policies
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    labels = first["spec"]["template"]["metadata"]["labels"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    assert service.live == []


def test_a_guest_with_namespaces_keeps_programs_apart_in_one_pod_and_serves_sessions_and_tests(
    service: Cluster, settings: Settings
) -> None:
    recorded = Exchange("GET", "https://api.example.com/v1/price", body=b"12")
    source = (
        "import urllib.request as u\nprint(u.urlopen('https://api.example.com/v1/price').read().decode())"
    )
    with KubernetesSandbox(**settings, rights="namespaces") as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"
        assert sandbox.run(Program("python", source, fixtures=Fixtures(http=(recorded,)))).stdout == "12\n"
        tested = sandbox.run(
            Program("python", "def f(x): return x", tests="assert f(1) == 1\nassert f(2) == 3")
        )
        assert (tested.tests_passed, tested.tests_total) == (1, 2)
        assert len(service.created) == 1
        spec = SessionSpec(tools=(ToolStub("price", ("item",)),))
        with sandbox.session(spec, lambda request: ToolAnswer(result=4)) as session:
            assert session.execute("price('tea')").result == 4
            assert session.execute("_ if '_' in dir() else 5").result == 5
    assert service.live == []


def test_what_a_pod_without_rights_cannot_keep_from_a_program_is_refused(
    service: Cluster, settings: Settings
) -> None:
    with KubernetesSandbox(**settings) as sandbox:
        with pytest.raises(SandboxUnavailable, match=r"could read its tests.*`rights` to `namespaces`"):
            sandbox.run(Program("python", "1", tests="assert True"))
        with pytest.raises(UnsupportedFixtures, match="recorded HTTP calls"):
            sandbox.run(Program("python", "1", fixtures=Fixtures(http=(Exchange("GET", "http://a/"),))))
    assert service.live == []


def test_what_is_known_of_a_run_is_declared(settings: Settings) -> None:
    assert KubernetesSandbox(**settings).evidence == {Evidence.PEAK_MEMORY}
    separating = KubernetesSandbox(**settings, rights="namespaces")
    assert separating.evidence == {Evidence.PEAK_MEMORY, Evidence.CALLS}


def test_a_job_that_cannot_be_made_for_now_is_tried_again(service: Cluster, settings: Settings) -> None:
    service.trouble.create = [500]
    with KubernetesSandbox(**settings) as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"
    assert service.live == []


def test_a_socket_that_is_cut_breaks_the_run_and_ends_its_pod(service: Cluster, settings: Settings) -> None:
    with KubernetesSandbox(**settings, retries="0") as sandbox:
        service.trouble.cut = 3  # that of the program: two wrote files before
        with pytest.raises(SandboxBroken, match="kubernetes"):
            sandbox.run(HELLO)
    assert service.live == []


@pytest.mark.parametrize(
    ("trouble", "more", "words"),
    [
        ({"create": [403] * 9}, {}, "may not make a Job in the namespace 'spanproof'"),
        ({"policy": 403}, {}, "may not make the NetworkPolicy.*set `network` to `own`"),
        ({"waiting": "ImagePullBackOff"}, {}, "does not run: ImagePullBackOff: a message"),
        ({"waiting": "Unschedulable"}, {"start_s": "1"}, "within 1 s: Unschedulable.*kubectl describe job"),
        ({}, {"namespace": "none"}, "no namespace 'none'"),
        ({}, {"kubeconfig": "/nowhere/config"}, "there is no configuration"),
    ],
)
def test_what_the_user_can_set_right_is_unavailable_with_the_remedy(
    service: Cluster, settings: Settings, trouble: dict[str, object], more: Settings, words: str
) -> None:
    for name, value in trouble.items():
        setattr(service.trouble, name, value)
    with KubernetesSandbox(**{**settings, **more}) as sandbox, pytest.raises(SandboxUnavailable, match=words):
        sandbox.run(HELLO)
    assert service.live == []


def test_a_policy_that_is_there_is_left_as_it_is(service: Cluster, settings: Settings) -> None:
    with KubernetesSandbox(**settings, network="own") as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"
    assert service.policies == []


def test_a_job_lives_as_long_as_a_program_needs_it(service: Cluster, settings: Settings) -> None:
    patient = Program("python", "print(1)", limits=Limits(wall_s=300))
    with KubernetesSandbox(**settings, lifetime_s="60") as sandbox:
        sandbox.run(patient)
    assert service.created[0]["spec"]["activeDeadlineSeconds"] > 300
    with KubernetesSandbox(**settings, rights="namespaces", lifetime_s="60") as sandbox:
        for program in (HELLO, patient):  # in one pod
            sandbox.run(program)
    (patch,) = service.patches
    assert patch["spec"]["activeDeadlineSeconds"] > 300


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"memory": "much"}, "no quantity of Kubernetes"),
        ({"rights": "all"}, "neither none nor namespaces"),
        ({"lifetime_s": "5"}, "whole number of at least 60"),
        ({"image": ""}, "empty"),
        ({"imagee": "x"}, "no setting 'imagee'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_its_name(given: Settings, words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        KubernetesSandbox(**given)


def test_doctor_names_the_cluster_and_that_pods_share_a_kernel(service: Cluster, settings: Settings) -> None:
    features = {each.name: each for each in KubernetesSandbox(**settings).availability().features}
    assert features["cluster"].present
    assert NAMESPACE in features["cluster"].detail
    wall = features["a wall beside the container's"]
    assert (wall.present, wall.required) == (False, False)


@pytest.mark.skipif(
    "SPANPROOF_TEST_KUBECONFIG" not in os.environ,
    reason="no real service: SPANPROOF_TEST_KUBECONFIG is not set",
)
def test_each_promise_is_kept_by_a_real_cluster() -> None:
    kubeconfig = os.environ["SPANPROOF_TEST_KUBECONFIG"]
    with KubernetesSandbox(workers=4, kubeconfig=kubeconfig, rights="namespaces") as real:
        findings = [evaluate_promise(promise, real) for promise in PROMISES]
    assert [finding for finding in findings if finding.outcome == "broken"] == []
