"""The chart: without faults, as recorded, valid for Kubernetes, and its configuration is one we read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from spanproof.collector.roles import Role
from spanproof.config.model import load_config

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "spanproof"
VALUES = sorted((Path(__file__).parent / "helm").glob("*.yaml"))
GOLDEN = ROOT / "tests" / "golden" / "helm"
KUBERNETES = "1.31"
OF_THE_PROMETHEUS_OPERATOR = {"ServiceMonitor", "PrometheusRule"}

pytestmark = pytest.mark.timeout(1000)  # Helm may have to be built first


def render(helm: str, *arguments: str) -> str:
    command = [helm, "template", "demo", str(CHART), "--kube-version", KUBERNETES, "--namespace", "agents"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def documents(text: str) -> dict[str, dict[str, Any]]:
    """Return the rendered resources by kind and name."""
    found = [each for each in yaml.safe_load_all(text) if each]
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in found}


def test_it_has_no_fault_that_helm_finds(helm: str) -> None:
    done = subprocess.run(
        [helm, "lint", "--strict", "--kube-version", KUBERNETES, str(CHART)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_it_renders_what_is_recorded(helm: str, values: Path) -> None:
    """After a wanted change set SPANPROOF_GOLDEN=write and look at the difference."""
    rendered = render(helm, "--values", str(values))
    golden = GOLDEN / values.name
    if os.environ.get("SPANPROOF_GOLDEN") == "write":
        golden.write_text(rendered, encoding="utf-8")
    assert rendered == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_kubernetes_takes_each_resource(helm: str, values: Path) -> None:
    for each in documents(render(helm, "--values", str(values))).values():
        if each["kind"] not in OF_THE_PROMETHEUS_OPERATOR:
            kubernetes_validate.validate(each, KUBERNETES, strict=True)


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_the_collector_reads_the_rendered_configuration(helm: str, values: Path, tmp_path: Path) -> None:
    (configuration,) = (
        each["data"]["spanproof.yaml"]
        for each in documents(render(helm, "--values", str(values))).values()
        if each["kind"] == "ConfigMap" and "spanproof.yaml" in each["data"]
    )
    path = tmp_path / "spanproof.yaml"
    path.write_text(configuration, encoding="utf-8")
    config = load_config(path, {})
    assert config.receivers.http.host == "0.0.0.0"
    assert str(config.wal.directory) == "/var/lib/spanproof/wal"


def of_values(helm: str, name: str) -> dict[str, dict[str, Any]]:
    return documents(render(helm, "--values", str(Path(__file__).parent / "helm" / f"{name}.yaml")))


def pod_of(resource: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = resource["spec"]["template"]["spec"]
    return pod


def test_programs_get_no_right_that_their_tier_does_not_need(helm: str) -> None:
    reduced, full = (
        pod_of(of_values(helm, name)["StatefulSet/demo-spanproof"]) for name in ("default", "full")
    )
    for pod in (reduced, full):
        assert_is_confined(pod)
    assert reduced["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert "hostUsers" not in reduced
    assert full["hostUsers"] is False
    assert full["containers"][0]["securityContext"]["procMount"] == "Unmasked"


def assert_is_confined(pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_each_role_is_one_that_the_collector_has_and_only_workers_get_the_sandbox(helm: str) -> None:
    rendered = of_values(helm, "roles")
    workloads = {
        each["metadata"]["labels"]["app.kubernetes.io/component"]: each
        for each in rendered.values()
        if each["kind"] in {"Deployment", "StatefulSet"}
    }
    assert set(workloads) == {role.value for role in Role} - {Role.ALL.value}
    for role, workload in workloads.items():
        pod = pod_of(workload)
        assert_is_confined(pod)
        (container,) = pod["containers"]
        assert container["args"][:3] == ["serve", "--role", role]
        assert ("runtimeClassName" in pod) == ("nodeSelector" in pod) == (role == "worker")
        assert ("hostUsers" in pod) == (role == "worker")
        assert (pod["securityContext"]["seccompProfile"]["type"] == "Unconfined") == (role == "worker")
        ports = {port["name"] for port in container["ports"]}
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert container[probe]["httpGet"]["port"] in ports


def test_services_reach_the_ports_of_the_roles_they_are_for(helm: str) -> None:
    for values in ("full", "roles"):
        rendered = of_values(helm, values)
        pods = [each["spec"]["template"] for each in rendered.values() if "template" in each.get("spec", {})]
        services = [each for each in rendered.values() if each["kind"] == "Service"]
        assert services
        for service in services:
            wanted = service["spec"]["selector"].items()
            chosen = [pod for pod in pods if wanted <= pod["metadata"]["labels"].items()]
            ports = {port["name"] for pod in chosen for port in pod["spec"]["containers"][0]["ports"]}
            assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
        (monitor,) = (each for each in rendered.values() if each["kind"] == "ServiceMonitor")
        labels = monitor["spec"]["selector"]["matchLabels"].items()
        assert len([each for each in services if labels <= each["metadata"]["labels"].items()]) == 1


def test_workers_are_scaled_by_the_backlog_that_the_rules_record(helm: str) -> None:
    rendered = of_values(helm, "roles")
    scaler = rendered["HorizontalPodAutoscaler/demo-spanproof-worker"]["spec"]
    (metric,) = scaler["metrics"]
    assert metric["external"]["metric"]["name"].replace("spanproof_", "spanproof:") in {
        rule.get("record")
        for group in rendered["PrometheusRule/demo-spanproof"]["spec"]["groups"]
        for rule in group["rules"]
    }
    assert "replicas" not in rendered["StatefulSet/demo-spanproof-worker"]["spec"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["ingress.enabled=true"], "ingress.host"),
        (["ingress.enabled=true", "ingress.host=a.example"], "ingress.tlsSecret"),
        (["sandbox.tier=none"], "sandbox.tier|/sandbox/tier"),
        (["replicas=3"], "replicas"),
        (["roles.enabled=true"], "config.kafka.brokers"),
        (["roles.enabled=true", "config.kafka.brokers[0]=kafka:9092"], "config.store.location"),
        (["console.expose=true"], "config.console.oidc"),
    ],
)
def test_a_value_that_cannot_be_is_refused(helm: str, settings: list[str], message: str) -> None:
    arguments = [argument for each in settings for argument in ("--set", each)]
    done = subprocess.run(
        [helm, "template", "demo", str(CHART), "--kube-version", KUBERNETES, *arguments],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert any(part in done.stderr for part in message.split("|")), done.stderr
