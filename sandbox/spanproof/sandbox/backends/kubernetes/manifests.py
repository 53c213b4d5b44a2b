"""What is made in the cluster: a Job for each machine, and one NetworkPolicy that leaves it no way out."""

from __future__ import annotations

from typing import Any, Final

from spanproof.sandbox.backends.kubernetes.settings import Settings

LABELS: Final = {"app.kubernetes.io/managed-by": "spanproof", "app.kubernetes.io/component": "sandbox"}
CONTAINER: Final = "program"
POLICY: Final = "spanproof-sandbox-no-network"
USER: Final = 64206
# What the guest needs to give a program namespaces of its own; the program itself has none of it.
_RIGHTS: Final = (
    *("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL"),
    *("NET_ADMIN", "NET_RAW", "SYS_PTRACE", "SYS_RESOURCE"),
)


def build_job(name: str, settings: Settings, lifetime_s: int) -> dict[str, Any]:
    """Return the Job of one machine: a container that waits for commands, with no right it can spare."""
    limits = {"cpu": settings.cpu, "memory": settings.memory}
    container = {
        "name": CONTAINER,
        "image": settings.image,
        "command": ["sleep", "2147483647"],
        "resources": {"limits": limits, "requests": limits},
        "securityContext": _build_security_context(settings),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - the container's
    }
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        # Programs are to reach neither the cluster's API nor its services.
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": settings.memory}}],
    }
    if settings.runtime_class is not None:
        pod["runtimeClassName"] = settings.runtime_class
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": LABELS},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": lifetime_s,
            "ttlSecondsAfterFinished": 0,
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def _build_security_context(settings: Settings) -> dict[str, Any]:
    if settings.separates:
        return {"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": list(_RIGHTS)}}
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def build_policy() -> dict[str, Any]:
    """Return the NetworkPolicy of all machines: nothing in, nothing out."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": POLICY, "labels": LABELS},
        "spec": {"podSelector": {"matchLabels": LABELS}, "policyTypes": ["Ingress", "Egress"]},
    }
