"""One key's places in one sentence: where a client puts it, and how many other clients disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.keys.clients import KeyPlacement

__all__ = ["in_one_sentence"]


def in_one_sentence(key: str, n: int, found: Sequence[KeyPlacement]) -> str:
    """Say where the first client puts a key, and what the others do.

    Args:
        key: How the sentence names the key.
        n: How many partitions there are.
        found: See `partwright.keys.clients.placements`.

    Examples:
        >>> from partwright.keys.clients import placements
        >>> in_one_sentence("key 'a'", 9, placements("a", 9))
        "java puts key 'a' into partition 4 of 9, like 9 of the other 22 clients; 13 do not, such as librdkafka with 0."
        >>> in_one_sentence("key 'a'", 9, placements("a", 9, "librdkafka"))
        "librdkafka puts key 'a' into partition 0 of 9."
        >>> in_one_sentence("a record without a key", 7, placements(None, 7, "kafka-go:hash"))
        'kafka-go:hash gives a record without a key no fixed partition (round robin).'
    """
    first, *others = found
    if first.partition is None:
        words = f"{first.client} gives {key} no fixed partition ({first.why})"
        of_others = f"of the other {counted(len(others), 'client')}"
        placing = sum(each.partition is not None for each in others)
        return (
            f"{words}; {counted(placing, f'{of_others} does', f'{of_others} do')}." if others else f"{words}."
        )
    if first.partition < 0:
        return f"{first.client} fails at {key}, whose partition would be {first.partition:,}."
    words = f"{first.client} puts {key} into partition {first.partition:,} of {n:,}"
    if not others:
        return f"{words}."
    differ = [each for each in others if each.partition != first.partition]
    if not differ:
        return f"{words}, and so do{'es' if len(others) == 1 else ''} the other {counted(len(others), 'client')}."
    # A bare name is a library's default rule.
    other = next((each for each in differ if ":" not in each.client), differ[0])
    where = "no fixed partition" if other.partition is None else f"{other.partition:,}"
    return (
        f"{words}, like {len(others) - len(differ)} of the other {counted(len(others), 'client')}; {len(differ)} "
        f"do not, "
        f"such as {other.client} with {where}."
    )
