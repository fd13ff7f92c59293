"""Copies in layers: groups of which each has read at least as far as the next read nothing again."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from partwright.migration.translate import Slice, Translation, layers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def in_layers(
    rng: random.Random,
    targets: dict[tuple[int, int], int],
    bounds: Sequence[Sequence[int]],
    old: int,
    new: int,
) -> tuple[Slice, list[int]]:
    """Every record in its layer, with old partitions mixed at random within a layer."""
    order: list[tuple[int, int]] = []
    at = [0] * old
    for bound in bounds:
        while any(map(int.__lt__, at, bound)):
            p = rng.choice([p for p in range(old) if at[p] < bound[p]])
            order.append((p, at[p]))
            at[p] += 1
    places = [targets[each] for each in order]
    ends = [places.count(q) for q in range(new)]
    return Slice([p for p, _ in order], [o for _, o in order], places, dict.fromkeys(places, 0)), ends


def test_groups_that_can_be_ordered_read_nothing_again(seed: int, cases: Callable[[int], int]) -> None:
    rng = random.Random(seed)
    for _ in range(cases(200)):
        old, new = rng.randint(1, 6), rng.randint(1, 9)
        ends = [rng.randint(0, 30) for _ in range(old)]
        groups = [[rng.randint(0, end) for end in ends]]
        for _ in range(rng.randint(0, 3)):
            groups.append([rng.randint(at, end) for at, end in zip(groups[-1], ends, strict=True)])
        bounds = layers(rng.sample(groups, len(groups)), [0] * old, ends)
        targets = {(p, o): rng.randrange(new) for p in range(old) for o in range(ends[p])}
        copies, new_ends = in_layers(rng, targets, bounds, old, new)
        assert len(copies.offsets) == sum(ends)
        for group in groups:
            found = Translation(group)
            found.add(copies)
            assert found.reread == 0, (groups, bounds)
            assert sum(new_ends) - sum(found.offsets(new_ends).values()) == found.unread


def test_layers_never_go_back_and_end_at_the_end(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        old = rng.randint(1, 6)
        at = [rng.randint(0, 9) for _ in range(old)]
        end = [each + rng.randint(0, 9) for each in at]
        groups = [[rng.randint(0, 25) for _ in range(old)] for _ in range(rng.randint(0, 4))]
        found = layers(groups, at, end)
        for before, after in zip([tuple(at), *found], found, strict=False):
            assert before != after
            assert all(map(int.__le__, before, after))
        assert (found[-1] if found else tuple(at)) == tuple(end)
