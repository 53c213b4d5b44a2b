"""Where spans go, who is trusted, and what another package brings."""

import inspect

import pytest

from . import otel_components
from .otlp_sinks import Authority, http_sink


@pytest.fixture
def sink():
    with http_sink() as made:
        yield made


@pytest.fixture(scope="module")
def components(tmp_path_factory):
    """A folder for the path with the package that brings components of its own."""
    folder = tmp_path_factory.mktemp("components")
    source = inspect.getsource(otel_components)
    (folder / "otel_components.py").write_text(source)
    (folder / "otel_context.py").write_text(otel_components.CONTEXT)
    described = folder / "otel_components-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: otel-components\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(otel_components.ENTRY_POINTS)
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))
