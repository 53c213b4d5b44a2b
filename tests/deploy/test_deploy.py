from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from spanproof.config.model import load_config

ROOT = Path(__file__).parents[2]
OTELCOL = sorted((ROOT / "deploy" / "otelcol").glob("*.yaml"))


def test_the_image_starts_with_a_valid_configuration() -> None:
    config = load_config(ROOT / "deploy" / "spanproof.yaml", {})
    assert not config.receivers.fallback_port
    assert len(config.warnings) == 2  # it listens on every address, so tokens are up to who runs it
    assert config.sandbox.settings == {"tier": "reduced"}  # all that a container's default profile leaves


def test_the_image_is_built_from_files_that_are_there() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    copied = [
        line.split()[1:-1]
        for line in dockerfile.splitlines()
        if line.startswith("COPY ") and "--from" not in line
    ]
    for name in (name for names in copied for name in names):
        assert (ROOT / name).exists(), name
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    for name in (name for names in copied for name in names):
        assert f"!{name}" in ignored, f"{name} is not in the build's context"


@pytest.mark.parametrize("path", OTELCOL, ids=lambda path: path.stem)
def test_every_component_a_pipeline_names_is_defined_or_left_to_the_other_file(path) -> None:
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    for pipeline in config["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            for component in pipeline.get(kind, []):
                assert component in config.get(kind, {}) or component == "otlp"
    to_spanproof = {key: each for key, each in config["exporters"].items() if key.endswith("/spanproof")}
    assert to_spanproof
    for name, exporter in to_spanproof.items():
        if name.startswith("otlp"):
            assert exporter["headers"]["authorization"].startswith("Bearer ")
