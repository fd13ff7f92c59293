"""What a step of a migration did, what each group reads again, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwright._check import Json, all_of, counted
from partwright._text import plain
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns
from partwright.rendering.text import bytes_, label

if TYPE_CHECKING:
    from partwright.migration.answer import MigrationStep

_MINUTES_FROM = 100
# What the column says about records that a group reads again; the other steps have no groups.
_AGAIN = {
    "plan": "reads again at most",
    "copy": "would read again now",
    "verify": "would read again now",
    "cutover": "reads again",
}
_AFTER_CUTOVER = (
    "When all is well, run partwright migrate finish; until then partwright migrate cutover --back goes back to the "
    "old topic, which nobody changed."
)
_NEXT = {
    "plan": "Run partwright migrate copy, with the same arguments. Writers and consumers keep running.",
    "copy": (
        "Run partwright migrate verify; or copy again, to come closer; or stop the writers and the groups, then "
        "cutover."
    ),
    "verify": "Stop the writers and the groups, then run partwright migrate cutover.",
    "cutover": f"Start the groups and the writers on the new topic. {_AFTER_CUTOVER}",
    "back": "Start the groups and the writers on the old topic. Another partwright migrate copy goes on where it was.",
    "finish": "Delete the old topic once nobody needs it; partwright has not touched it.",
}


def document(step: MigrationStep) -> Document:
    """The step's verdict, what limits it, a row for each group, the new partitions of a plan, and the next step.

    Examples:
        >>> from partwright.migration import MigrationStep
        >>> compared = {"compared": "every record"}
        >>> step = MigrationStep("verify", "a", "b", 4, 6, 10, 10, lost=1, more=compared)
        >>> verdict = document(step).verdicts[0]
        >>> verdict.state, verdict.text[:43]
        ('fails', 'The copy is wrong. Of 10 records: 1 lost, 0')
    """
    words = _said_before(step) or _SENTENCES[step.step](step)
    verdicts: tuple[Verdict | str, ...] = (Verdict("holds" if step.ok else "fails", words), *_details(step))
    title = f"From {label(step.source)} to {label(step.target)}"
    return answered(title, verdicts, _sections(step), step.to_dict())


def _said_before(step: MigrationStep) -> str:
    """What a step says after the migration was finished; empty before."""
    if not step.more.get("already"):
        return ""
    moved = counted(len(step.groups), "group was", "groups were")
    left = "" if step.step == "finish" else f": nothing is left for {step.step} to do"
    return f"This migration is finished already, and {moved} moved to the new topic{left}."


def _is_moved(step: MigrationStep) -> bool:
    """Whether groups may read the new topic."""
    return step.more.get("phase") in {"moved", "finished"}


def _plan(step: MigrationStep) -> str:
    more = step.more
    if not step.ok:
        return (
            f"{counted(more['scattered_keys'], 'key is', 'keys are')} in several partitions "
            f"({counted(step.out_of_order, 'record')}): copy refuses them. Add --order time or --order generation."
        )
    how = f", merged by {more['order']}" if more["order"] else ""
    words = f"{counted(step.records, 'record')} can be copied with each key in order{how}"
    if step.groups:
        again = counted(sum(step.reread.values()), "record")
        words += f"; {counted(len(step.groups), 'group')} would read at most {again} again"
    return f"{words}."


def _copy(step: MigrationStep) -> str:
    now, took = step.more["copied_now"], step.more["seconds"]
    rate = f", {now / took:,.0f} a second" if took else ""
    return (
        f"{counted(step.written, 'record is', 'records are')} copied, {now:,} of them now in {_lasting(took)}{rate}; "
        f"{counted(step.lag, 'offset')} came meanwhile."
    )


def _verify(step: MigrationStep) -> str:
    if step.more["compared"] == "every record":
        of = counted(step.records, "record")
    else:
        of = counted(step.records, "key's last value", "keys' last values")
    words = (
        f"{'Every copy is right' if step.ok else 'The copy is wrong'}. Of {of}: {step.lost:,} lost, {step.twice:,} "
        f"twice or foreign, {step.changed:,} changed or misplaced, {step.out_of_order:,} out of order; groups would "
        f"skip {step.skipped:,}."
    )
    return words if step.ok or _is_moved(step) else f"{words} Do not cut over."


def _cutover(step: MigrationStep) -> str:
    all_copied = all_of(step.written, "record is", "records are")
    moved = counted(len(step.groups), "group has its offsets", "groups have their offsets")
    return f"{all_copied[0].upper()}{all_copied[1:]} copied, and {moved} in the new topic."


def _back(step: MigrationStep) -> str:
    words = "Back: the old topic and the groups' offsets there are as they were at the cut-over."
    since = step.more["written_since"]
    if not since:
        return words
    return f"{words} The old topic lacks {counted(since, 'record')} that the new topic has got since."


def _finish(step: MigrationStep) -> str:
    copies = counted(step.written, "copy", "copies")
    return f"Finished: the new topic has its own settings, and {copies} of the old one's records."


_SENTENCES = {
    "plan": _plan,
    "copy": _copy,
    "verify": _verify,
    "cutover": _cutover,
    "back": _back,
    "finish": _finish,
}


def _details(step: MigrationStep) -> Iterator[str]:
    """What limits the verdict, what readers of the new topic must know, and which topics these are."""
    more = step.more
    old, new = counted(step.old, "partition"), counted(step.new, "partition")
    topics = plain(f"From {step.source} ({old}) to {step.target} ({new}).")
    if more.get("already"):
        yield topics
        return
    if more.get("first_wrong"):
        yield plain(f"The first: {more['first_wrong']}.")
    if step.step == "verify" and step.lag:
        left = counted(step.lag, "offset of the old topic is", "offsets of the old topic are")
        yield f"{left} not copied yet, and not compared."
    if more.get("gone") and step.step == "verify":
        yield (
            f"{counted(more['gone'], 'record was', 'records were')} deleted from the old topic since: nothing is left "
            "to compare the copies with."
        )
    if step.step == "plan":
        yield from _planned(step)
    elif step.step in _AGAIN:
        yield from _copied(step)
    elif step.step == "finish":
        kept = [f"{name}={value}" for name, value in more["configs"].items() if value is not None]
        by = ", ".join(kept) or "the cluster's defaults"
        yield plain(f"It keeps records by {by}: what is older is deleted within minutes.")
    if step.step in _AGAIN and not step.groups:
        yield "No consumer group that this user may see has committed offsets of the old topic."
    yield topics


def _planned(step: MigrationStep) -> Iterator[str]:
    more = step.more
    sampled = "" if more["keys_looked_at"] == "1 of 1" else f", {more['keys_looked_at']} of them looked at"
    yield (
        f"{bytes_(more['bytes'])} uncompressed for each replica, {counted(more['keys'], 'key')}{sampled}, "
        f"{counted(more['keyless'], 'record')} without a place by their key, "
        f"{counted(more['tombstones'], 'tombstone')}."
    )
    if more["away"] and step.ok:
        family = ", ".join(more["family"][:3]) or "no client"
        yield (
            f"{counted(more['away'], 'record is', 'records are')} not where this client puts their key; partwright "
            f"fingerprint says {more['writer']} ({family})."
        )
    if more["untimed"]:
        none = counted(more["untimed"], "record has", "records have")
        yield f"{none} no time: a copy gets the time at which it is made."
    yield f"Copying takes about {_lasting(more['copy_s'])}; looking took {_lasting(more['scan_s'])}."


def _copied(step: MigrationStep) -> Iterator[str]:
    more = step.more
    if more.get("aborted"):
        anew = "" if _is_moved(step) else "; or delete the new topic and its ledger, and copy anew"
        yield (
            f"{counted(more['aborted'], 'copy', 'copies')} of interrupted transactions in the new topic: consumers do "
            f"not see them with isolation.level=read_committed. Set it, for Java's default is another{anew}."
        )
    if more.get("deleted"):
        gone = counted(more["deleted"], "offset was", "offsets were")
        yield f"{gone} deleted from the old topic before being copied."
    if more.get("untimed"):
        yield f"{counted(more['untimed'], 'record')} had no time: a copy has the time at which it was made."


def _sections(step: MigrationStep) -> Iterator[Section]:
    """A row for each group, the new partitions of a plan, and the next step."""
    is_plan = step.step == "plan"
    if step.groups and step.step in _AGAIN and not step.more.get("already"):
        hint = ""
        if is_plan and step.new % step.old and any(step.reread.values()):
            multiple = -(-step.new // step.old) * step.old
            of = counted(step.old, "partition")
            hint = f"With a multiple of {of}, such as {multiple}, no group reads anything again."
        rows: list[Json] = [
            {"group": name, "unread": step.unread.get(name), "reread": step.reread.get(name, 0)}
            for name in sorted(step.groups)
        ]
        yield Section(
            id="groups",
            title="Consumer groups, in records",
            sentence=hint,
            columns=columns(group="group|text", unread="has not read", reread=_AGAIN[step.step]),
            **bounded(rows),
        )
    if is_plan and step.scan is not None and step.scan.shares:
        rows = [
            {"partition": at, "records": records, "share": records / step.scan.records}
            for at, records in sorted(step.scan.shares.items())
        ]
        yield Section(
            id="shares",
            title="The new partitions",
            columns=columns(partition="new partition", records="records", share="share|share"),
            **bounded(rows),
            bar="records",
        )
    if words := _next(step):
        yield Section(id="next", title="Next", sentence=words)


def _next(step: MigrationStep) -> str:
    is_moved = _is_moved(step)
    if step.more.get("already") or (not step.ok and step.step != "verify"):
        return ""
    if not step.ok and is_moved:
        words = "Go back to the old topic: partwright migrate cutover --back."
    elif not step.ok:
        words = "Delete the new topic and its ledger, and begin anew."
    elif is_moved and step.step in {"plan", "verify"}:
        words = _AFTER_CUTOVER
    elif staying := step.more.get("staying"):
        who = f"{counted(len(staying), 'group has', 'groups have')} not moved, such as {staying[0]}"
        words = plain(f"Keep the old topic: {who}.")
    elif step.more.get("written_since"):
        words = (
            "Start the groups and the writers on the old topic, and take the records that it lacks from the new one. "
            "Before the next copy delete the new topic and its ledger."
        )
    else:
        words = _NEXT[step.step]
    return words


def _lasting(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds < _MINUTES_FROM else f"{seconds / 60:,.0f} min"
