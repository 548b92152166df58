"""Fixtures for agents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.agents import RULE

Points = Callable[..., dict[Any, Any]]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a folder with one rule file, `deep_research.yaml`."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "deep_research.yaml").write_text(RULE)
    return tmp_path / "rules"


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Points:
    """Return a function that returns the sum of the points of a metric by the values of these labels."""
    metrics, export = map(pytest.importorskip, ("opentelemetry.sdk.metrics", "opentelemetry.sdk.metrics.export"))
    reader = export.InMemoryMetricReader()
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", metrics.MeterProvider([reader]))
    monkeypatch.setattr("reducer.agent.telemetry._LABELS", set())

    def read(name: str, *labels: str) -> dict[Any, Any]:
        data = reader.get_metrics_data()
        found = data.resource_metrics[0].scope_metrics[0].metrics if data else []
        values: dict[Any, Any] = {}
        for metric in found:
            if metric.name == f"reducer.{name}":
                for point in metric.data.data_points:
                    key = tuple(point.attributes[f"reducer.{label}"] for label in labels)
                    values[key] = values.get(key, 0) + (getattr(point, "value", None) or getattr(point, "count", 0))
        return values

    return read
