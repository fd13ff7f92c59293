"""The output of a step of `partwright migrate`, in words and a table on stdout, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.filesize import decimal
from rich.table import Table

from partwright._check import counted
from partwright.cli.tables.console import bar, escape, right_table, stdout_console
from partwright.documents.sentences import lasting, of_migration

if TYPE_CHECKING:
    from rich.console import Console

    from partwright.migration.answer import Answer
    from partwright.migration.scan import Scan

__all__ = ["print_answer"]

_WIDTH = 120
_SHOWN = 48


def print_answer(answer: Answer) -> None:
    """Print it."""
    console = stdout_console(_WIDTH)
    console.print(
        f"[bold]{escape(answer.source)}[/] ({counted(answer.old, 'partition')}) to [bold]{escape(answer.target)}[/] "
        f"({counted(answer.new, 'partition')})"
    )
    console.print()
    [verdict] = of_migration(answer)
    mark = "[green]✓[/]" if answer.ok else "[red]✗[/]"
    console.print(f"{mark} [bold]{escape(verdict.text)}[/]")
    _STEPS[answer.step](console, answer)


def _plan(console: Console, answer: Answer) -> None:
    more = answer.more
    sampled = "" if more["keys_looked_at"] == "1 of 1" else f", {more['keys_looked_at']} of them looked at"
    console.print(
        f"  {decimal(more['bytes'])} uncompressed for each replica, {counted(more['keys'], 'key')}{sampled}, "
        f"{counted(more['keyless'], 'record')} without a place by their key, "
        f"{counted(more['tombstones'], 'tombstone')}."
    )
    if more["away"] and answer.ok:
        console.print(
            f"  {counted(more['away'], 'record is', 'records are')} not where this client puts their key; "
            f"partwright fingerprint says "
            f"{more['writer']} ({', '.join(more['family'][:3]) or 'no client'})."
        )
    if more["untimed"]:
        console.print(
            f"  {counted(more['untimed'], 'record has', 'records have')} no time: a copy gets the time at which "
            "it is made."
        )
    console.print(f"  Copying takes about {lasting(more['copy_s'])}; looking took {lasting(more['scan_s'])}.")
    if answer.scan is not None and answer.scan.shares:
        _shares(console, answer.scan)
    _groups(console, answer, "reads again at most")
    if answer.new % answer.old and any(answer.reread.values()):
        console.print(
            f"With a multiple of {counted(answer.old, 'partition')}, such as "
            f"{-(-answer.new // answer.old) * answer.old}, no "
            "group reads anything again."
        )
    _next(
        console,
        "partwright migrate copy, with the same arguments. Writers and consumers keep running.",
        answer,
    )


def _shares(console: Console, scan: Scan) -> None:
    shares = sorted(scan.shares.items())
    table = right_table("new partition", "records", "share")
    table.add_column("")
    most = max(scan.shares.values())
    for target, many in shares[:_SHOWN]:
        table.add_row(str(target), f"{many:,}", f"{many / scan.records:.1%}", bar(many, most))
    console.print(table)
    if len(shares) > _SHOWN:
        console.print(f"and {len(shares) - _SHOWN:,} more")


def _copy(console: Console, answer: Answer) -> None:
    _said(console, answer)
    _groups(console, answer, "would read again now")
    _next(
        console,
        "partwright migrate verify; or copy again, to come closer; or stop the writers and the groups, then cutover.",
        answer,
    )


def _verify(console: Console, answer: Answer) -> None:
    if answer.more.get("first_wrong"):
        console.print(f"  The first: {escape(answer.more['first_wrong'])}.")
    if answer.more.get("gone"):
        console.print(
            f"  {counted(answer.more['gone'], 'record was', 'records were')} deleted from the old topic since: "
            "nothing is left to compare the copies with."
        )
    if answer.lag:
        console.print(
            f"  {counted(answer.lag, 'offset of the old topic is', 'offsets of the old topic are')} not copied "
            f"yet, and "
            "not compared."
        )
    _said(console, answer)
    _groups(console, answer, "would read again now")
    if answer.ok:
        _next(console, "stop the writers and the groups, then partwright migrate cutover.", answer)
    else:
        console.print("[bold]Next[/]: delete the new topic and its ledger, and begin anew.")


def _cutover(console: Console, answer: Answer) -> None:
    _said(console, answer)
    _groups(console, answer, "reads again")
    _next(
        console,
        "start the groups and the writers on the new topic. When all is well, partwright migrate finish; until then "
        "partwright migrate cutover --back goes back to the old topic, which nobody changed.",
        answer,
    )


def _back(console: Console, answer: Answer) -> None:
    console.print("  Start the groups and the writers on the old topic.")
    if answer.more["written_since"]:
        console.print(
            "[red]✗[/] Take the records that the old topic lacks from the new one. Before the next copy delete the new "
            "topic and its ledger."
        )
    else:
        _next(console, "partwright migrate copy goes on where it was.", answer)


def _finish(console: Console, answer: Answer) -> None:
    kept = {name: value for name, value in answer.more["configs"].items() if value is not None}
    told = ", ".join(f"{name}={value}" for name, value in kept.items()) or "the cluster's defaults"
    console.print(f"  It keeps records by {escape(told)}: what is older is deleted within minutes.")
    _next(console, "delete the old topic once nobody needs it; partwright has not touched it.", answer)


def _said(console: Console, answer: Answer) -> None:
    """Notes for readers of the new topic."""
    more = answer.more
    if more.get("aborted"):
        console.print(
            f"  {counted(more['aborted'], 'copy', 'copies')} of interrupted transactions in the new topic: "
            f"consumers do "
            "not see them "
            "with isolation.level=read_committed. Set it, for Java's default is another; or delete the new topic and "
            "its ledger, and copy anew."
        )
    if more.get("deleted"):
        console.print(
            f"  {counted(more['deleted'], 'offset was', 'offsets were')} deleted from the old topic before being "
            "copied."
        )
    if more.get("untimed"):
        console.print(
            f"  {counted(more['untimed'], 'record')} had no time: a copy has the time at which it was made."
        )


def _groups(console: Console, answer: Answer, again: str) -> None:
    if not answer.groups:
        console.print("  No consumer group that this user may see has committed offsets of the old topic.")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("group", overflow="fold")
    table.add_column("has not read", justify="right")
    table.add_column(again, justify="right")
    for name in sorted(answer.groups):
        unread = answer.unread.get(name)
        table.add_row(
            escape(name), "" if unread is None else f"{unread:,}", f"{answer.reread.get(name, 0):,}"
        )
    console.print(table)


def _next(console: Console, words: str, answer: Answer) -> None:
    if answer.ok:
        console.print(f"[bold]Next[/]: {words}")


_STEPS = {
    "plan": _plan,
    "copy": _copy,
    "verify": _verify,
    "cutover": _cutover,
    "back": _back,
    "finish": _finish,
}
