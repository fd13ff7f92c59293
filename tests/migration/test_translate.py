"""A group's new offsets follow the definition: nothing is skipped, and none could be greater."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from partwright.migration.ledger import Copies, encoded
from partwright.migration.translate import Slice, Translation

if TYPE_CHECKING:
    from collections.abc import Callable


def copied(
    rng: random.Random, old: int, new: int
) -> tuple[list[Slice], list[tuple[int, int, int, int]], list[int]]:
    """A topic with gaps, copied in transactions that leave markers: slices, each copy's place, and the new ends."""
    offsets = {p: sorted(rng.sample(range(90), rng.randint(0, 40))) for p in range(old)}
    ends = [rng.choice([0, 0, 7]) for _ in range(new)]
    slices, places = [], []
    while any(offsets.values()):
        rows = []
        for _ in range(rng.randint(1, 12)):
            p = rng.choice([p for p, left in offsets.items() if left] or [-1])
            if p >= 0:
                rows.append((p, offsets[p].pop(0), rng.randrange(new)))
        bases: dict[int, int] = {}
        for p, o, q in rows:
            # Markers of transactions, and aborted records, are between the records of two transactions.
            bases.setdefault(q, ends[q] + rng.choice([0, 1, 1, 5]))
            at = max(ends[q], bases[q])
            places.append((p, o, q, at))
            ends[q] = at + 1
        slices.append(Slice([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], bases))
    return slices, places, ends


def test_offsets_are_the_greatest_that_skip_nothing(seed: int, cases: Callable[[int], int]) -> None:
    rng = random.Random(seed)
    for _ in range(cases(300)):
        old, new = rng.randint(1, 7), rng.randint(1, 11)
        slices, places, ends = copied(rng, old, new)
        committed = [rng.randint(0, 95) for _ in range(old)]
        found = Translation(committed)
        at = [0] * old
        for some in slices:
            if found.has_none_below(at):
                found.add_unread(some.bases, len(some.targets))
            else:
                found.add(some)
            for p, o in zip(some.partitions, some.offsets, strict=True):
                at[p] = o + 1
        offsets = found.offsets(ends)
        assert sorted(offsets) == list(range(new))
        for q, offset in offsets.items():
            unread = [at for p, o, target, at in places if target == q and o >= committed[p]]
            # No record is skipped; if an offset were greater by one, a record would be.
            assert offset == (min(unread) if unread else ends[q])
        assert found.unread == sum(o >= committed[p] for p, o, *_ in places)
        assert found.reread == sum(at >= offsets[q] and o < committed[p] for p, o, q, at in places)


def test_a_slice_s_places_are_those_that_were_written(seed: int) -> None:
    slices, places, _ = copied(random.Random(seed), 5, 3)
    assert [place for some in slices for place in some.places()] == places


@pytest.mark.parametrize(("old", "new"), [(3, 5), (300, 7), (7, 300)])
def test_the_ledger_gives_back_what_it_was_given(old: int, new: int, seed: int) -> None:
    for some in copied(random.Random(seed), old, new)[0]:
        found = Copies(encoded(some))
        assert found.slice() == some
        assert (found.bases, found.count) == (some.bases, len(some.targets))


def test_the_ledger_takes_about_a_byte_a_record(seed: int) -> None:
    rng = random.Random(seed)
    rows = [(p, o) for p in range(6) for o in range(3000)]
    some = Slice([p for p, _ in rows], [o for _, o in rows], [rng.randrange(16) for _ in rows], {})
    assert len(encoded(some)) < 1.1 * len(rows)
