"""Whether records are where their client puts them, how evenly they fill the partitions, and which keys are heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright.documents.sentences import all_empty, summed, times
from partwright.rendering.binned import by_rank
from partwright.rendering.colours import ACCENT, EMPHASIS
from partwright.rendering.document import Column, Document, Section, Verdict, bounded
from partwright.rendering.flow import flows_of
from partwright.rendering.plots import by_name, by_partition, quantity, tooltip
from partwright.rendering.text import label, number, share, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partwright._check import Fields, Json
    from partwright.audit.check import Check

__all__ = ["document", "heaviest", "partitions"]

# Up to this many partitions are drawn by number; of more, only the largest are, and all by rank.
_BY_NUMBER = 300
_LARGEST = 20
# Of more partitions than this, the largest come first: a terminal shows no more.
_BY_SIZE = 48
# Below this, an uneven spread of keys is not put down to chance.
_UNLIKELY = 0.01
# The fullest partition is mentioned if it has at least this many times its fair share.
_SKEWED = 2.0
# Splitting keys is worth its price if it reduces the largest share by this much.
_WORTH = 0.9
# Name the cheapest salt that helps nearly as much as any.
_NEARLY = 1.1
_HEAVY, _OTHERS = "the heaviest keys", "all others"
_QUANTILES = (
    ("the smallest", 0.0),
    ("a tenth (p10)", 0.1),
    ("a quarter (p25)", 0.25),
    ("a half (p50)", 0.5),
    ("three quarters (p75)", 0.75),
    ("nine tenths (p90)", 0.9),
    ("all but one in 100 (p99)", 0.99),
)


def document(check: Check) -> Document:
    """Whether records are in their places, then each partition, the heaviest keys, and where misplaced ones belong."""
    answer = check.to_dict()
    title = (
        f", as {answer['client']} would fill them" if answer["misplaced"] is None and answer["rows"] else ""
    )
    sections = (
        *partitions(answer, answer["heavy_keys"], "rows", title),
        heaviest(answer["heavy_keys"], answer["rows"] - answer["null_keys"], "rows"),
        *(_misplaced(answer) if answer["misplaced_by"] else ()),
    )
    verdicts = (*all_empty(check.is_all_empty), *_verdicts(check, answer))
    return Document(
        f"Check of {counted(answer['rows'], 'record')}", verdicts, sections, summed(verdicts, answer)
    )


def _verdicts(check: Check, answer: Fields) -> Iterator[Verdict]:
    """The places or, if nothing is wrong with them, the contract and the fullest partition; then what limits this."""
    rows, client, misplaced = answer["rows"], answer["client"], answer["misplaced"]
    fullest, broken = _fullest(answer), "; ".join(check.broken)
    is_kept = check.has_contract and not broken
    if not rows:
        yield Verdict("open", "Nothing was checked: there are no records.", headline="Nothing was checked")
    elif misplaced:
        yield from _elsewhere(check, answer)
    elif broken:
        key = label(answer["heavy_keys"][0]["key"]) if answer["heavy_keys"] else ""
        yield Verdict("fails", f"The contract is broken: {broken}.{_remedy(answer, f'key {key}')}")
        yield Verdict("said", fullest)
    elif misplaced is None:
        yield Verdict("holds" if is_kept else "said", f"{fullest}{_remedy(answer, 'that key')}")
    else:
        all_, them = all_of(rows, "record is", "records are"), "it" if rows == 1 else "them"
        yield Verdict("holds", f"{all_[0].upper()}{all_[1:]} where {client} puts {them}. {fullest}")
    if misplaced is None and rows:
        words = "Not compared"
        yield Verdict(
            "said" if check.has_contract else "open",
            f"{words} with where the records are: no column of partitions was named.",
            headline="" if check.has_contract else words,
        )
    if answer["undetermined"]:
        yield Verdict(
            "said",
            f"Undetermined: {counted(answer['undetermined'], 'record')}, which {client} may put anywhere.",
        )
    if is_kept:
        yield Verdict("holds", "The shares keep the contract.")
    elif misplaced or not rows:
        yield from (Verdict("fails", f"{each[0].upper()}{each[1:]}.") for each in check.broken)
    yield from (Verdict("said", words) for words in _skew(check, answer))
    if answer["note"]:
        yield Verdict("said", f"{answer['note'][0].upper()}{answer['note'][1:]}.")
    yield from (Verdict("said", str(example)) for example in check.examples)


def _elsewhere(check: Check, answer: Fields) -> Iterator[Verdict]:
    """How many records are misplaced, the first of them, and what to do."""
    client, nowhere, of = answer["client"], answer["nowhere"], counted(answer["rows"], "record")
    if wrong := answer["misplaced"] - nowhere:
        are, them = ("is", "it") if wrong == 1 else ("are", "them")
        part = f"{wrong:,} of {of} ({share(wrong / answer['rows'])}) {are}"
        if wrong == answer["rows"]:
            part = all_of(wrong, "record is", "records are").capitalize()
        words = f"{part} not where {client} puts {them}"
        first = next((each for each in check.examples if each.partition is not None), None)
        if first is not None:
            place = "elsewhere" if first.expected is None else f"in {first.expected}"
            words += f"; the first: key {label(first.key)} is in {label(first.partition)} and belongs {place}"
        # Records without a partition are refused there.
        advice = "" if nowhere else " Run partwright fingerprint to learn who wrote them."
        yield Verdict("fails", f"{words}.{advice}")
    if nowhere:
        counts = f"{'has' if nowhere == 1 else 'have'} no partition (null or empty)"
        yield Verdict("fails", f"{nowhere:,} of {of} {counts}: look at the column named with --partition.")
    # Another engine does not count them.
    if outside := 0 if check.outside is None else check.outside - nowhere:
        words = counted(outside, "record is", "records are")
        yield Verdict("fails", f"{words} in no partition from 0 to {check.n - 1}: is -n {check.n} right?")


def _fullest(answer: Fields) -> str:
    """The fullest partition, how many times its fair share it has, and the key that makes it so."""
    if not answer["used"]:
        return "No record is in a partition."
    fullest = max(answer["partitions"], key=lambda part: part["rows"])
    words = (
        f"Partition {fullest['partition']} holds {share(answer['largest_share'])} of the records, "
        f"{times(answer['largest_over_mean'])} its fair share"
    )
    if answer["heavy_keys"] and _is_skewed(answer):
        key = answer["heavy_keys"][0]
        words += f"; key {label(key['key'])} alone has {share(key['rows'] / answer['rows'])}"
    return f"{words}."


def _is_skewed(answer: Fields) -> bool:
    """Whether a partition is fuller than it should be; never with fewer records than partitions."""
    return bool(answer["largest_over_mean"] >= _SKEWED and answer["rows"] >= answer.get("among", answer["n"]))


def _remedy(answer: Fields, one: str) -> str:
    """The cheapest salt that helps, if any does; `one` names the heaviest key."""
    able = [each for each in answer["salted"] if each["largest_share"] < _WORTH * answer["largest_share"]]
    if not able or not _is_skewed(answer) or answer["is_all_empty"]:
        return ""
    least = min(each["largest_share"] for each in able)
    best = next(each for each in able if each["largest_share"] <= _NEARLY * least)
    what = one if best["keys"] == 1 else f"the {counted(best['keys'], 'heaviest key')}"
    return (
        f" Salt {what} {best['ways']} ways, and the largest partition holds {share(best['largest_share'])}."
    )


def _skew(check: Check, answer: Fields) -> Iterator[str]:
    """How uneven it is, whether chance or heavy keys make it so, and what salting those would achieve."""
    if answer["expected_used"] is not None and answer["rows"] > answer["null_keys"]:
        of = f"of {counted(check.among, 'partition')}"
        yield (
            f"{counted(answer['used'], f'{of} has', f'{of} have')} records; hashing alone would fill "
            f"{answer['expected_used']:,.0f}."
        )
    if answer["p_value"] is not None:
        is_even = answer["p_value"] >= _UNLIKELY
        because = "; heavy keys cause the skew" if is_even and answer["largest_over_mean"] >= _SKEWED else ""
        spread = "evenly" if is_even else "unevenly"
        yield f"Distinct keys hash {spread} (p = {answer['p_value']:.2g}){because}."
    salted = answer["salted"]
    if any(each["largest_share"] < answer["largest_share"] for each in salted) and not answer["is_all_empty"]:
        keys = salted[0]["keys"]
        what = "the heaviest key" if keys == 1 else f"the {counted(keys, 'heaviest key')}"
        shares = ", ".join(f"{each['ways']} ways {share(each['largest_share'])}" for each in salted)
        yield f"With {what} salted, the largest partition would hold: {shares}."


def partitions(answer: Fields, heavy: Sequence[Fields], by: str, title: str = "") -> tuple[Section, ...]:
    """Records per partition, the heaviest keys' apart; of many partitions, the largest, and how all are spread.

    Args:
        answer: With `n` and, by partition, how many records it has; `among` if not all of them were read.
        heavy: The heaviest keys, each with its records and its partition.
        by: The field of how many records: rows or records.
        title: What the title ends with.
    """
    n = answer.get("among", answer["n"])
    of_heavy: dict[int | None, int] = {}
    for each in heavy:
        of_heavy[each["partition"]] = of_heavy.get(each["partition"], 0) + each[by]
    total = sum(part[by] for part in answer["partitions"])
    rows = [
        {
            **part,
            "records": part[by],
            "share": part[by] / (total or 1),
            # Estimates may add up to more than the total.
            "heavy": min(part[by], of_heavy.get(part["partition"], 0)),
        }
        for part in answer["partitions"]
    ]
    is_ranked = answer["n"] > _BY_NUMBER
    by_size = sorted(rows, key=lambda row: (-row["records"], row["partition"]))
    stacked = [
        {
            "partition": str(row["partition"]) if is_ranked else row["partition"],
            "kind": kind,
            "start": start,
            "end": end,
            "size": end - start,
        }
        for row in (by_size[:_LARGEST] if is_ranked else rows)
        for kind, start, end in ((_HEAVY, 0, row["heavy"]), (_OTHERS, row["heavy"], row["records"]))
        if end > start
    ]
    used = {bar["kind"] for bar in stacked} or {_OTHERS}
    kinds = {kind: colour for kind, colour in ((_HEAVY, EMPHASIS), (_OTHERS, ACCENT)) if kind in used}
    more = (Column("bytes", "size", "bytes"), Column("null_keys", "records without a key"))
    section = Section(
        id="partitions",
        title=f"{'The largest partitions' if is_ranked else 'Records a partition'}{title}",
        sentence=_sentence(by_size, total, n),
        spec=by_partition(stacked, kinds, "records", n=None if is_ranked else answer["n"], even=total / n)
        if total
        else None,
        columns=(
            Column("partition", "partition"),
            Column("records", "records"),
            Column("share", "share", "share"),
            Column("keys", "keys"),
            Column("heavy", "of the heaviest keys"),
            *(column for column in more if any(row.get(column.field) for row in rows)),
        ),
        **bounded(by_size if len(rows) > _BY_SIZE else rows),
        marks=len(stacked),
        bar="records",
    )
    return (
        (section, _spread([row["records"] for row in by_size], total, n))
        if is_ranked and total
        else (section,)
    )


def _sentence(by_size: Sequence[Fields], total: int, n: int) -> str:
    if not total:
        return "No record is in a partition."
    largest, heavy = by_size[0], sum(row["heavy"] for row in by_size)
    words = (
        f"Partition {largest['partition']} has the most, {number(largest['records'])} of {counted(total, 'record')} "
        f"({share(largest['share'])}), {times(largest['share'] * n)} its fair share"
    )
    return (
        f"{words}; the heaviest keys have {number(heavy)} of all ({share(heavy / total)})."
        if heavy
        else f"{words}."
    )


def _spread(sizes: Sequence[int], total: int, n: int) -> Section:
    """How full the many partitions are: sizes by rank, and quantiles."""
    spec, marks = by_rank({"records": sizes}, [ACCENT], "records", total / n)
    # By size, the largest first; partitions that are not listed are empty.
    used = [size for size in sizes if size]
    rows: list[Json] = []
    for name, part in _QUANTILES:
        place = n - 1 - round(part * (n - 1))
        size = used[place] if place < len(used) else 0
        rows.append({"name": name, "records": size, "times": size * n / total})
    empty = n - len(used)
    half = rows[len(rows) // 2]
    return Section(
        id="spread",
        title="How evenly all partitions are filled",
        sentence=(
            f"{number(len(used))} of {counted(n, 'partition')} are drawn, neighbours in size in one bar, and "
            f"{counted(empty, 'is', 'are')} empty; the middle one has {counted(half['records'], 'record')}, and "
            f"the fair share (dashed) is {number(round(total / n, 1))}."
        ),
        spec=spec,
        columns=(
            Column("name", "partitions", "prose"),
            Column("records", "records at most"),
            Column("times", "times fair share"),
        ),
        **bounded(rows),
        marks=marks,
        is_detail=True,
    )


def heaviest(heavy: Sequence[Fields], keyed: int, by: str) -> Section:
    """The keys with the most records.

    Args:
        heavy: The heaviest keys, each with its records and its partition.
        keyed: The number of records of which they have a share.
        by: The field of how many records: rows or records.
    """
    rows = [
        {
            "key": shown(each["key"]),
            "records": each[by],
            "share": each[by] / (keyed or 1),
            "partition": "none or several" if each["partition"] is None else str(each["partition"]),
            # Two long keys may begin alike.
            "label": f"{place}. {label(each['key'])}",
            "text": number(each[by]),
        }
        for place, each in enumerate(heavy, 1)
    ]
    together = sum(row["records"] for row in rows)
    names = tooltip(key="key", records="records|,", share="share|.2%", partition="partition")
    return Section(
        id="heavy-keys",
        title="Heaviest keys",
        sentence=(
            f"They have {number(together)} of {counted(keyed, 'record')} with a key ({share(together / (keyed or 1))})."
            if rows
            else "No record has a key."
        ),
        spec=by_name(rows, quantity("records", "records", "whole"), None, names, {"value": EMPHASIS})
        if rows
        else None,
        columns=(
            Column("key", "key", "text"),
            Column("records", "records"),
            Column("share", "share", "share"),
            Column("partition", "partition", "prose"),
        ),
        **bounded(rows),
        marks=len(rows),
        bar="records",
    )


def _misplaced(answer: Fields) -> tuple[Section, ...]:
    flows = [
        {"from": each["partition"], "to": each["expected"], "rows": each["rows"]}
        for each in answer["misplaced_by"]
    ]
    first = max(flows, key=lambda each: each["rows"])
    left = answer["misplaced"] - sum(each["rows"] for each in flows)
    undrawn = (
        f"; {counted(left, 'is', 'are')} in no partition of the topic, or are not drawn" if left > 0 else ""
    )
    section = Section(
        id="misplaced",
        title="Misplaced records",
        sentence=(
            f"The most, {counted(first['rows'], 'is', 'are')} in partition {first['from']} and should be in "
            f"{first['to']}{undrawn}."
        ),
        columns=(
            Column("from", "is in partition"),
            Column("to", "belongs into"),
            Column("rows", "records"),
        ),
        is_detail=True,
    )
    return flows_of(flows, section, ("where records are", "where they belong"), (answer["n"], answer["n"]))
