"""Which assignor a group uses: `partition.assignment.strategy`, its members' votes, and the rebalance protocol.

>>> assignment_strategy()
['range', 'cooperative-sticky']
>>> select_assignor({"c1": "sticky, range", "c2": ["range", "sticky"], "c3": "range"})
'range'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from partwright import _core
from partwright._check import shown
from partwright.assignors.names import CLIENT_ASSIGNORS, resolve
from partwright.errors import PartwrightError

_VERSION = re.compile(r"(\d+)\.(\d+)(\.\d+)*")
# KIP-726 made cooperative-sticky a second default.
_COOPERATIVE_SINCE = (3, 0)
# Since the first version a repeated name is an error; since the second it is taken once.
_TWICE_REFUSED_SINCE, _TWICE_TAKEN_SINCE = (3, 1), (4, 2)
_COOPERATIVE = {"cooperative-sticky"}


def assignment_strategy(strategy: str | Sequence[object] | None = None, version: str = "4.4.0") -> list[str]:
    """The assignors of a consumer's `partition.assignment.strategy`, in its order, under their names in Kafka.

    Args:
        strategy: The setting: a list, or Kafka's text with commas; by default that of the version. Name an assignor as
            Java does (`org.apache.kafka.clients.consumer.RangeAssignor`) or, which Java does not accept, by its name in
            the protocol (`range`); your own as for `partwright.assign`.
        version: The version of kafka-clients: up to 2.8 the default is `range`, from 3.0 on `range,
            cooperative-sticky`.

    Returns:
        The names; for your own assignors their `name`.

    Raises:
        PartwrightError: An assignor does not exist, or the list is empty; one is the broker's or an older version's,
            which no consumer can name; one is listed twice, which kafka-clients 3.1 to 4.1 refuse (later ones take it
            once, earlier ones did not check).

    Examples:
        >>> assignment_strategy(version="2.8.2")
        ['range']
        >>> assignment_strategy("org.apache.kafka.clients.consumer.StickyAssignor, range")
        ['sticky', 'range']
    """
    released = _release(version)
    if strategy is None:
        return ["range", "cooperative-sticky"] if released >= _COOPERATIVE_SINCE else ["range"]
    names = [_name(assignor) for assignor in listed_assignors(strategy)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None and _TWICE_REFUSED_SINCE <= released < _TWICE_TAKEN_SINCE:
        raise PartwrightError(
            f"partition.assignment.strategy has {twice!r} twice, which kafka-clients {version} refuses: each name once"
        )
    return list(dict.fromkeys(names)) if released >= _TWICE_TAKEN_SINCE else names


def rebalance_protocol(strategy: str | Sequence[object] | None = None, version: str = "4.4.0") -> str:
    """How a consumer of this strategy rebalances: by the highest protocol that all of its assignors support.

    With the default strategy it is `EAGER`, though `cooperative-sticky` is in it: a group becomes cooperative when
    `range` is taken out of every member's list.

    Args:
        strategy: See `assignment_strategy`.
        version: See `assignment_strategy`.

    Returns:
        `EAGER` or `COOPERATIVE`, as `ConsumerCoordinator` finds it.

    Raises:
        PartwrightError: As `assignment_strategy` does; its assignors have no protocol in common.

    Examples:
        >>> rebalance_protocol(), rebalance_protocol("cooperative-sticky")
        ('EAGER', 'COOPERATIVE')
    """
    names = assignment_strategy(strategy, version)
    supported = {"EAGER", "COOPERATIVE"}
    for resolved in map(resolve, names if strategy is None else listed_assignors(strategy)):
        if isinstance(resolved, str):
            supported &= {"EAGER", "COOPERATIVE"} if resolved in _COOPERATIVE else {"EAGER"}
        else:
            supported &= set(resolved.protocols)
    if not supported:
        raise PartwrightError(
            f"the assignors {', '.join(names)} have no rebalance protocol in common (Kafka's own consumer throws "
            "IllegalArgumentException)"
        )
    # As in Kafka, COOPERATIVE is the higher protocol.
    return "COOPERATIVE" if "COOPERATIVE" in supported else "EAGER"


def select_assignor(strategies: object, version: str = "4.4.0") -> str:
    """The assignor that a group's coordinator takes, as `ClassicGroup.selectProtocol` of Kafka 3.9 to 4.3 does.

    Each member votes for the first of its list that all members have; the most votes win, and if votes are equal, the
    one that Java's `HashMap` of votes iterates over first.

    Args:
        strategies: By member its `partition.assignment.strategy`: see `assignment_strategy`.
        version: See `assignment_strategy`.

    Returns:
        The assignor's name.

    Raises:
        PartwrightError: As for `assignment_strategy`; there are no members, or they have no assignor in common.

    Examples:
        >>> select_assignor({"c1": None, "c2": None, "c3": "cooperative-sticky"})
        'cooperative-sticky'
        >>> select_assignor({"c1": "range, sticky", "c2": "sticky, range"})
        'sticky'
    """
    if not isinstance(strategies, Mapping) or not all(isinstance(member, str) for member in strategies):
        raise PartwrightError(
            f"strategies has a partition.assignment.strategy by member, not {shown(strategies)}"
        )
    if not strategies:
        raise PartwrightError("a group without members has no assignor")
    lists = {member: assignment_strategy(each, version) for member, each in strategies.items()}
    return select_protocol(lists)


def select_protocol(preferred: Mapping[str, Sequence[str]]) -> str:
    """The same for members of any clients: each votes for the first of its assignors that all members have.

    Args:
        preferred: By member, its assignors' wire names, the preferred one first.

    Raises:
        PartwrightError: The members have no assignor in common, so the coordinator refuses the last one to join.

    Examples:
        >>> select_protocol({"c1": ["range", "sticky"], "c2": ["sticky", "range"], "c3": ["sticky", "range"]})
        'sticky'
    """
    common = set.intersection(*map(set, preferred.values()))
    if not common:
        lists = "; ".join(
            f"{member!r} has {', '.join(names) or 'none'}" for member, names in preferred.items()
        )
        raise PartwrightError(
            "the members have no assignor in common, so the coordinator lets the last of them not join "
            f"(INCONSISTENT_GROUP_PROTOCOL): {lists}; set one that all have"
        )
    members = _walked(list(preferred))
    votes = Counter(next(name for name in preferred[member] if name in common) for member in members)
    # With equal votes, max takes the first.
    return max(_walked(list(votes)), key=votes.__getitem__)


def _name(assignor: object) -> str:
    """The name of a consumer's assignor in the group's protocol."""
    resolved = resolve(assignor)
    if not isinstance(resolved, str):
        return resolved.name
    if resolved not in CLIENT_ASSIGNORS:
        known = ", ".join(CLIENT_ASSIGNORS)
        raise PartwrightError(
            f"partition.assignment.strategy cannot have {resolved!r}: there are {known}, and those of your own"
        )
    return resolved


def listed_assignors(strategy: str | Sequence[object]) -> list[object]:
    """The setting's assignors as they are named; Java splits text at commas and trims each part.

    Raises:
        PartwrightError: It is not a list, or an empty one.

    Examples:
        >>> listed_assignors("range, sticky")
        ['range', 'sticky']
    """
    if isinstance(strategy, str):
        strategy = [part.strip() for part in strategy.split(",")] if strategy.strip() else []
    elif not isinstance(strategy, (list, tuple)):
        raise PartwrightError(
            f"partition.assignment.strategy is a list or text with commas, not {shown(strategy)}"
        )
    if not strategy:
        raise PartwrightError("partition.assignment.strategy is empty: name at least one assignor")
    return list(strategy)


def _release(version: str) -> tuple[int, int]:
    found = _VERSION.fullmatch(str(version))
    if found is None:
        raise PartwrightError(f"a version of kafka-clients is written as 3.9.2, not {shown(version)}")
    return int(found[1]), int(found[2])


def _walked(names: Sequence[str]) -> list[str]:
    """Names in the order of iteration of a Java `HashMap` that was filled in the given order."""
    try:
        return [names[place] for place in _core.walk_names(list(names))]
    except UnicodeEncodeError as error:
        raise PartwrightError(f"{error.object!r} is not UTF-8, as every name in Kafka is") from None
