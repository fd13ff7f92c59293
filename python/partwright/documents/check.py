"""Whether records are where their client puts them, how evenly they fill the partitions, and which keys are heavy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from partwright._check import Fields, all_of, counted, spelled
from partwright.documents.sentences import all_empty, times
from partwright.rendering.colours import ACCENT, EMPHASIS
from partwright.rendering.document import Column, Document, Section, Verdict, answered, bounded, columns
from partwright.rendering.flow import flows_of
from partwright.rendering.plots import by_partition, by_rank
from partwright.rendering.text import label, number, share, shown

if TYPE_CHECKING:
    from partwright.audit.check import Check

# Up to this many partitions are drawn by number; of more, all are drawn by size.
_BY_NUMBER = 300
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
_COLOURS = {"the heaviest keys": EMPHASIS, "all others": ACCENT}
_PARTS = {
    "a tenth": 0.1,
    "a quarter": 0.25,
    "half": 0.5,
    "three quarters": 0.75,
    "nine tenths": 0.9,
    "99%": 0.99,
}


def document(check: Check) -> Document:
    """Whether records are in their places, then each partition, the heaviest keys, and where misplaced ones belong."""
    answer = check.to_dict()
    title = (
        f", as {answer['client']} would fill them" if answer["misplaced"] is None and answer["rows"] else ""
    )
    sections = (
        partitions(answer, answer["heavy_keys"], "rows", title),
        heaviest(answer["heavy_keys"], answer["rows"] - answer["null_keys"], "rows"),
        _misplaced(answer) if answer["misplaced_by"] else None,
    )
    verdicts = (*all_empty(check.is_all_empty), *_verdicts(check, answer))
    return answered(f"Check of {counted(answer['rows'], 'record')}", verdicts, sections, answer)


def _verdicts(check: Check, answer: Fields) -> Iterator[Verdict | str]:
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
        yield fullest
    elif misplaced is None:
        yield Verdict("holds" if is_kept else "said", f"{fullest}{_remedy(answer, 'that key')}")
    else:
        all_, them = all_of(rows, "record is", "records are"), "it" if rows == 1 else "them"
        yield Verdict("holds", f"{all_[0].upper()}{all_[1:]} where {client} puts {them}. {fullest}")
    if misplaced is None and rows:
        words = f"Not compared with where the records are: name the column of partitions with {spelled('partition')}."
        yield words if check.has_contract else Verdict("open", words, headline="Not compared")
    if answer["undetermined"]:
        yield f"Undetermined: {counted(answer['undetermined'], 'record')}, which {client} may put anywhere."
    if is_kept:
        yield Verdict("holds", "The shares keep the contract.")
    elif misplaced or not rows:
        yield from (Verdict("fails", f"{each[0].upper()}{each[1:]}.") for each in check.broken)
    yield from _skew(check, answer)
    if answer["note"]:
        yield f"{answer['note'][0].upper()}{answer['note'][1:]}."
    yield from map(str, check.examples)


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


def partitions(answer: Fields, heavy: Sequence[Fields], by: str, title: str = "") -> Section:
    """Records per partition, the heaviest keys' apart; of many partitions, all by their size.

    Args:
        answer: With `n` and, by partition, how many records it has; `among` if not all of them were read.
        heavy: The heaviest keys, each with its records and its partition.
        by: The field of how many records: rows or records.
        title: What the title ends with.
    """
    n, total = answer.get("among", answer["n"]), sum(part[by] for part in answer["partitions"])
    of_heavy: Counter[int | None] = Counter()
    for each in () if _is_tied(heavy, by) else heavy:
        of_heavy[each["partition"]] += each[by]
    rows = [
        # Estimates may add up to more than the total.
        part | {"share": part[by] / (total or 1), "heavy": min(part[by], of_heavy[part["partition"]])}
        for part in answer["partitions"]
    ]
    by_size = sorted(rows, key=lambda row: (-row[by], row["partition"]))
    sentence, spec = "No record is in a partition.", None
    if total:
        most = by_size[0]
        sentence = (
            f"Partition {most['partition']} has the most, {number(most[by])} of {counted(total, 'record')} "
            f"({share(most['share'])}), {times(most['share'] * n)} its fair share"
        )
        if answer["n"] > _BY_NUMBER:
            sizes = [row[by] for row in by_size if row[by]]
            spec = by_rank({"records": sizes}, [ACCENT], "records", total / n)
            sentence += f" (dashed); {_spread(sizes, n)}"
        else:
            bars = [
                {"partition": row["partition"], "kind": kind, "start": start, "end": end, "size": end - start}
                for row in rows
                for kind, start, end in zip(_COLOURS, (0, row["heavy"]), (row["heavy"], row[by]), strict=True)
                if end > start
            ]
            drawn = {bar["kind"] for bar in bars}
            colours = {kind: colour for kind, colour in _COLOURS.items() if kind in drawn}
            spec = by_partition(bars, colours, "records", n=answer["n"], even=total / n)
        sentence += "."
    more = columns(
        heavy="of the heaviest keys", bytes="keys and values|bytes", null_keys="records without a key"
    )
    return Section(
        id="partitions",
        title=f"Records a partition{title}",
        sentence=sentence,
        spec=spec,
        columns=(
            *columns(partition="partition", **{by: "records"}, share="share|share", keys="keys"),
            *(column for column in more if any(row.get(column.field) for row in rows)),
        ),
        **bounded(by_size if len(rows) > _BY_SIZE else rows),
        bar=by,
    )


def _spread(sizes: Sequence[int], n: int) -> str:
    """How full the many partitions are: how many have no records, and quantiles of all."""
    places = {name: n - 1 - round(part * (n - 1)) for name, part in _PARTS.items()}
    # Of parts with the same size, the largest stands for all.
    at_most = {sizes[place] if place < len(sizes) else 0: name for name, place in places.items()}
    parts = ", ".join(f"{count:,} in {name}" for count, name in at_most.items())
    return f"{counted(n - len(sizes), 'is', 'are')} empty, and there are at most {parts} of all partitions"


def heaviest(heavy: Sequence[Fields], keyed: int, by: str) -> Section:
    """The keys with the most records.

    Args:
        heavy: The heaviest keys, each with its records and its partition.
        keyed: The number of records of which they have a share.
        by: The field of how many records: rows or records.
    """
    rows = [
        {
            **each,
            "share": each[by] / (keyed or 1),
            "place": "none or several" if each["partition"] is None else str(each["partition"]),
        }
        for each in heavy
    ]
    together = sum(row[by] for row in rows)
    of = f"{number(together)} of {counted(keyed, 'record')} with a key ({share(together / (keyed or 1))})"
    titles = columns(**{by: "records"}, share="share|share", place="partition|prose")
    return by_weight(rows, titles, "Heaviest keys", f"They have {of}." if rows else "No record has a key.")


def by_weight(keys: Sequence[Fields], titles: tuple[Column, ...], title: str, sentence: str = "") -> Section:
    """Keys by how many records they have, the first of the columns; with bars if these differ."""
    by = titles[0].field
    if is_tied := _is_tied(keys, by):
        each = counted(keys[0][by], "record")
        sentence = f"These {counted(len(keys), 'key')} have {each} each, and no key has more."
    return Section(
        id="heavy-keys",
        title=title,
        sentence=sentence,
        columns=(*columns(key="key|text"), *titles),
        **bounded([{**each, "key": shown(each["key"])} for each in keys]),
        bar=None if is_tied else by,
    )


def _is_tied(keys: Sequence[Fields], by: str) -> bool:
    """Whether there are several keys with equally many records, none of which is heavy then."""
    return len(keys) > 1 and len({each[by] for each in keys}) == 1


def _misplaced(answer: Fields) -> Section:
    flows = [
        {"from": each["partition"], "to": each["expected"], "rows": each["rows"]}
        for each in answer["misplaced_by"]
    ]
    left = answer["misplaced"] - sum(each["rows"] for each in flows)
    others = f"{counted(left, 'is', 'are')} in no partition of the topic, or are not drawn"
    section = Section(
        id="misplaced",
        title="Misplaced records",
        sentence=others if left > 0 else "",
        columns=columns(**{"from": "is in partition", "to": "belongs into", "rows": "records"}),
        is_detail=True,
    )
    return flows_of(flows, section, ("partition now", "right partition"), (answer["n"], answer["n"]))
