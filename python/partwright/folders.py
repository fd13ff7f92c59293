"""Where partwright keeps what outlives a process: the user's cache and state folders, or where the environment says."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

__all__ = ["cache_folder", "state_folder"]


def cache_folder() -> Path:
    """What can be fetched or made again: jars, the demo's data. `PARTWRIGHT_CACHE` names another folder."""
    chosen = os.environ.get("PARTWRIGHT_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("partwright")


def state_folder() -> Path:
    """What is true of now: the running broker, the runs and their logs. `PARTWRIGHT_STATE` names another folder."""
    chosen = os.environ.get("PARTWRIGHT_STATE")
    return (Path(chosen) if chosen else platformdirs.user_state_path("partwright")).absolute()
