"""Copy a topic into another number of partitions, in order, with its consumer groups' offsets."""

from __future__ import annotations

from partwright.migration.answer import MigrationStep
from partwright.migration.copy_step import copy
from partwright.migration.cutover_step import back, cutover, finish
from partwright.migration.plan_step import plan
from partwright.migration.settings import Migration, Side
from partwright.migration.verify_step import verify

__all__ = ["Migration", "MigrationStep", "Side", "back", "copy", "cutover", "finish", "plan", "verify"]
