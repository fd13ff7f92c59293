"""The answer of a migration's step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import pyarrow as pa

from partwright._check import Json
from partwright.answer import Answer
from partwright.migration.scan import Scan


@dataclass(frozen=True)
class MigrationStep(Answer):
    """What a step of a migration did, or would do.

    Attributes:
        step: `plan`, `copy`, `verify`, `cutover`, `back` or `finish`.
        source: The old topic's address.
        target: The new topic's address.
        old: How many partitions the old topic has.
        new: How many the new topic has, or would have.
        records: How many records the old topic has, as far as the step goes.
        written: How many copies the new topic has.
        lost: How many records have no copy.
        twice: How many records of the new topic are not a copy, or a second copy.
        out_of_order: How many copies are before an older one of their key; for `plan`, how many records have keys in
            several partitions, whose order is unknown.
        changed: How many copies differ in key, value, headers, timestamp or partition.
        skipped: How many records a group would not read.
        groups: By group, its offset in each new partition.
        reread: By group, how many records it reads again.
        unread: By group, how many records it has not read yet.
        lag: How many offsets of the old topic are not copied yet.
        more: The fields that only this step has, by name.
        scan: What the scan of the old topic found, if the step scanned it.
    """

    DOCUMENT = "migrate"

    step: str
    source: str
    target: str
    old: int
    new: int
    records: int = 0
    written: int = 0
    lost: int = 0
    twice: int = 0
    out_of_order: int = 0
    changed: int = 0
    skipped: int = 0
    groups: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    reread: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    lag: int = 0
    more: Json = field(default_factory=dict)
    scan: Scan | None = None

    @property
    def ok(self) -> bool:
        """Whether every promise holds."""
        is_planned = self.step == "plan" and self.more.get("order") is not None
        wrong = self.lost or self.twice or self.changed or self.skipped
        return not wrong and (is_planned or not self.out_of_order)

    def to_arrow(self) -> pa.Table:
        """A row for each group, by name: `group`, `unread` (null if it is unknown) and `reread`."""
        import pyarrow as pa  # noqa: PLC0415 - an answer without a table needs none

        names = sorted(self.groups)
        columns = {
            "group": pa.array(names, pa.string()),
            "unread": pa.array([self.unread.get(name) for name in names], pa.int64()),
            "reread": pa.array([self.reread.get(name, 0) for name in names], pa.int64()),
        }
        return pa.table(columns)

    def to_dict(self) -> Json:
        """The object that `--json` prints.

        Examples:
            >>> topics = "kafka://a:9092/t", "kafka://a:9092/u"
            >>> told = MigrationStep("verify", *topics, 4, 6, 10, 10, groups={"g": {0: 3}}).to_dict()
            >>> told["ok"], told["lost"], told["groups"]
            (True, 0, {'g': {'0': 3}})
        """
        names = {"old": "from", "new": "to"}
        named = {names.get(each.name, each.name): getattr(self, each.name) for each in fields(self)[:-2]}
        named["groups"] = {
            name: {str(target): offset for target, offset in offsets.items()}
            for name, offsets in self.groups.items()
        }
        return {"step": self.step, "ok": self.ok, **named, **self.more}
