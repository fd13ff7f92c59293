"""Answers of commands that need a broker or Spark, as such a command once had them: by name."""

from __future__ import annotations

from partwright.migration import MigrationStep
from partwright.pipeline.report import Checks, KeyShare, PartitionShare, PlannedStep, Proof, Report, RunStep
from partwright.pipeline.stream_run import StreamReport

__all__ = ["SAVED"]

OLD, NEW = "kafka://127.0.0.1:9092/orders", "kafka://127.0.0.1:9092/orders-18"
BASKET = (
    "5f1c3f0e-0d5b-4f0e-9c55-6a3f3f0d9a11,c20b7a52-8a6e-4a41-8f2f-1d0f6b1f7c02,"
    "0b9a7d6c-3e0f-4a52-9a0c-7d1f5e2b8c03"
)
COUNTS = (1204, 377, 0, 412, 398, 405, 391)


def run_report(*, lost: int) -> Report:
    records, null_keys = sum(COUNTS) + 150, 150
    shares = [PartitionShare(at, count, count * 61, count // 9, 20 + at) for at, count in enumerate(COUNTS)]
    return Report(
        source="orders.csv",
        target="kafka://127.0.0.1:9092",
        topic="orders",
        client="java",
        strategy=None,
        producers=None,
        n=len(COUNTS),
        records=records,
        keyed=records - null_keys,
        null_keys=null_keys,
        keys=351,
        bytes=sum(COUNTS) * 61,
        largest_share=COUNTS[0] / sum(COUNTS),
        partitions=tuple(shares),
        heaviest_keys=(
            KeyShare("customer-1042", 830, 0),
            KeyShare(BASKET, 96, 3),
            KeyShare("Zoë [eu]", 41, 6),
        ),
        plan=(
            PlannedStep("read and place"),
            PlannedStep("make the topic", "append"),
            PlannedStep("write", "by Spark's sink"),
            PlannedStep("read back and check"),
        ),
        steps=(
            RunStep("read orders.csv", 0.81),
            RunStep("place and write", 12.4),
            RunStep("read back and check", 3.06),
        ),
        checks=Checks(
            records=records,
            lost=lost,
            twice=0,
            foreign=0,
            misplaced=0,
            key_changed=0,
            value_changed=0,
            out_of_order=0,
            offset_gaps=0,
            examples=("record 17 with key customer-1042 is lost",) if lost else (),
        ),
        proof=None if lost else Proof(records - null_keys, records - null_keys, 0, 0),
        n_now=len(COUNTS),
        notes=("the topic existed already, with 7 partitions",),
        is_marked=True,
    )


def stream_report() -> StreamReport:
    return StreamReport(
        source="inbox",
        target="kafka://127.0.0.1:9092",
        topic="orders",
        client="java",
        n=7,
        batches=3,
        records=3187,
        written=3000,
        already_there=187,
        lost=0,
        twice=0,
        moved=0,
        is_marked=True,
    )


def migration(step: str, **fields: object) -> MigrationStep:
    more = {
        "bytes": 194_407, "keys": 351, "keys_looked_at": "1 of 1", "keyless": 150, "tombstones": 12, "away": 3,
        "untimed": 0, "writer": "mixture", "family": ["java", "librdkafka"], "copy_s": 1.6, "scan_s": 0.4,
        "order": None, "gone": 0, "copied_now": 3187, "compared": "every record", "written_since": 0,
        "configs": {"retention.ms": "604800000", "cleanup.policy": None}, "aborted": 0, "deleted": 7,
        "seconds": 2.3, "scattered_keys": 0, "scattered_records": 0,
    }  # fmt: skip
    fields = {"written": 3187, "reread": {"billing": 412, "audit": 0}, "unread": {"billing": 96}} | fields
    fields.setdefault("groups", {"billing": {0: 12, 1: 31, 17: 4}})
    return MigrationStep(step, OLD, NEW, 12, 18, 3187, more=more, **fields)


SAVED: dict[str, Report | StreamReport | MigrationStep] = {
    "run": run_report(lost=0),
    "run-lost": run_report(lost=2),
    "stream": stream_report(),
    "migrate-plan": migration("plan", written=0),
    "migrate-copy": migration("copy", lag=40),
    "migrate-verify": migration("verify"),
    "migrate-verify-lost": migration("verify", lost=3, out_of_order=1),
    "migrate-cutover": migration("cutover"),
    "migrate-back": migration("back", groups={}),
    "migrate-finish": migration("finish"),
}
