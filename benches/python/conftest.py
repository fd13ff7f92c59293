"""Lets the benches of this folder import bench_cases.py, which the Spark bench shares with them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
