"""Lets the benches of this folder import bench_cases.py, and has their results say the run's seed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def pytest_benchmark_update_json(output_json: dict[str, Any]) -> None:
    """What compare.py holds against the other layers."""
    from bench_cases import SEED  # noqa: PLC0415 - only now can it be found

    output_json["seed"] = str(SEED)
