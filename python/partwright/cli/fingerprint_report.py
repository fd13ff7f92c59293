"""What `partwright fingerprint` found, in words and a table on stdout."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from partwright.cli.tables import bar, stdout_console
from partwright.clients import clients
from partwright.shown import short, shown_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from partwright.audit import Change, Fingerprint

__all__ = ["print_report", "print_settings"]

_WIDTH = 120
_TRANSFORMS = {
    "confluent:strip-id": "without the five bytes that a schema registry's serializer puts before them",
    "json-unquote": "without their JSON quotes",
}


def print_report(found: Fingerprint, source: str) -> None:
    """Print what was found."""
    console = stdout_console(_WIDTH)
    sampled = ", a part of them looked at" if found.is_sampled else ""
    console.print(
        f"[bold]{found.rows:,}[/] records of {escape(source)}: {found.keys:,} different keys{sampled}, "
        f"{found.null_keys:,} records without a key"
    )
    console.print()
    console.print(f"[bold]{found.verdict}[/]: {_sentence(found)}")
    if found.key_transform is not None:
        console.print(f"Keys are taken {_TRANSFORMS[found.key_transform]} ({found.key_transform}).")
    if len(found.family) > 1 and found.verdict != "undecided":
        console.print(f"No key of these tells them apart: {', '.join(found.family)}.")
    if found.deciding_keys:
        console.print(f"The nearest other rule puts {found.deciding_keys:,} of the keys elsewhere.")
    if found.change is not None:
        console.print(_when(found.change))
    if found.explained:
        console.print()
        console.print(_explained(found))
    _print_scattered(console, found)
    _print_advice(console, found)


def _sentence(found: Fingerprint) -> str:
    of_n = "" if found.n is None else f", for {found.n} partitions"
    shares = ", ".join(
        f"{name} {share:.1%}" for name, share in sorted(found.shares.items(), key=lambda one: -one[1])
    )
    rest = f"; no rule explains {found.unexplained:.1%}" if found.unexplained >= _LEAST else ""
    if found.verdict == "undecided":
        return f"too few keys tell the clients apart; {len(found.family)} are left: {', '.join(found.family)}{of_n}"
    steps = " to ".join(str(step) for step in (found.change.steps if found.change else ()))
    return {
        "one-writer": f"{found.family[0] if found.family else ''} explains where the records are{of_n}{rest}",
        "mixture": f"{shares}{rest}{of_n}",
        "n-change": f"from {steps} partitions ({shares}){rest}",
        "writer-change": f"from {steps}{of_n} ({shares}){rest}",
        "round-robin": f"keys are there and not gone by: partitions are taken in turn{of_n}",
        "no-rule": "keys are there, and no client puts them where they are: a partitioner of one's own, or partitions "
        "given or drawn",
        "no-keys": "no record has a key, so each producer chose as it liked"
        if found.rows
        else "there are no records",
    }[found.verdict]


# Less than this is not shown.
_LEAST = 0.0005


def _when(change: Change) -> str:
    words = "no timestamps or offsets tell when"
    if change.last_timestamp_before is not None and change.first_timestamp_after is not None:
        words = (
            f"the last record as before: {_time(change.last_timestamp_before)}, the first as after: "
            f"{_time(change.first_timestamp_after)}"
        )
    if change.first_offset_after:
        offsets = ", ".join(
            f"{partition}:{offset}" for partition, offset in change.first_offset_after.items()
        )
        words += f"\nFirst offsets as after, by partition: {offsets}"
    return f"When: {words}"


def _time(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"


def _explained(found: Fingerprint) -> Table:
    """A row for each rule that explains as much."""
    rows: dict[tuple[int, int], list[str]] = {}
    for name, counts in found.explained.items():
        rows.setdefault(counts, []).append(name)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("explains", "of", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("clients", overflow="fold")
    for (right, of), names in sorted(rows.items(), key=lambda row: -row[0][0]):
        style = "bold green" if found.family and found.family[0] in names else ""
        share = right / (of or 1)
        table.add_row(f"{right:,}", f"{of:,}", f"{share:.1%}", bar(share, 1), ", ".join(names), style=style)
    return table


def _print_scattered(console: Console, found: Fingerprint) -> None:
    if not found.scattered_keys:
        return
    console.print(f"{found.scattered_keys:,} keys are in several partitions:")
    for key, partitions in found.scattered:
        console.print(f"  {escape(short(shown_key(key)))}: {', '.join(map(str, partitions))}")


def _print_advice(console: Console, found: Fingerprint) -> None:
    if "java" not in found.family:
        print_settings(console, found.family if found.verdict == "one-writer" else tuple(found.shares))


def print_settings(console: Console, names: Iterable[str]) -> None:
    """Print by what settings some clients put their keys where Java puts them."""
    settings = {row["client"]: row["setting"] for row in clients().to_pylist()}
    lines = [f"  {name}: {settings[name]}" for name in names if settings.get(name)]
    if lines:
        console.print("To put every key where java puts it:")
        for line in lines:
            # To be copied as it is, however narrow the terminal.
            console.print(escape(line), soft_wrap=True)
