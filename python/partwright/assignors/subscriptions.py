"""The subscriptions of members of which only the partitions that they read are known.

>>> owned = {"a-1": ["clicks"], "a-2": ["clicks"], "b-1": ["orders"]}
>>> subscriptions_of(["clicks", "orders"], owned)[0]
{'a-1': ['clicks'], 'a-2': ['clicks'], 'b-1': ['orders']}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from partwright._check import Json, counted, listed, refused, shown, unknown
from partwright.assignors.mixed.guess import by_client_id
from partwright.errors import PartwrightError

_NAMED = 6


def subscriptions_of(
    topics: Iterable[str],
    read: Mapping[str, Collection[str]],
    client_ids: Mapping[str, str] | None = None,
    named: Mapping[str, Collection[str]] | None = None,
) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Each member's subscription: the named one, or else an assumed one.

    If the members' topics fall apart into sets of which no member reads two, as those of two services in one group do,
    a member is assumed to subscribe to its set. Members with one client ID are of one service, unless the ID is a
    client's default. One that reads nothing is assumed to subscribe to the sets of members with its client ID, or to
    everything if there are none. In any other group all are assumed to subscribe to everything.

    Args:
        topics: The group's topics.
        read: By member, the topics of which it reads partitions.
        client_ids: By member, its client ID, if it is known.
        named: By member ID or client ID, the topics that are known; an ID of both kinds is a member's.

    Returns:
        The topics of each member, and the notes, a sentence each: what was assumed, which topics nobody subscribes to,
        and which members read a topic that `named` denies them.

    Raises:
        PartwrightError: `named` has a member or a topic that the group lacks, a member twice, or one without topics.

    Examples:
        >>> subscriptions_of(["t", "u"], {"c1": ["t"], "c2": ["u"], "c3": []}, named={"c3": ["u"]})[1]
        ('assumed subscriptions, as members read separate sets of topics: 1 member to t, 1 member to u; correct them with --subscriptions',)
        >>> subscriptions_of(["t", "u"], {"c1": ["t", "u"], "c2": ["u"]})[1]
        ('assumed subscriptions: 2 members to all topics; correct them with --subscriptions',)
        >>> subscriptions_of(["t"], {"c1": ["t"], "c2": ["t"]})[1]
        ()
        >>> subscriptions_of(["t", "u"], {"c1": ["t"], "c2": ["u"]}, {"c1": "app", "c2": "app"})[0]
        {'c1': ['t', 'u'], 'c2': ['t', 'u']}
        >>> subscriptions_of(["t", "u"], {"c1": ["t"]}, named={"c1": ["u"]})[1]
        ("members read topics to which they do not subscribe by --subscriptions: 'c1' reads t; check --subscriptions", 'nobody subscribes to t; name who does with --subscriptions')
    """  # noqa: E501 - an example is one line
    everything = list(topics)
    ids = client_ids or {}
    known = _known(everything, list(read), ids, check_subscriptions(named or {}))
    of_clients: dict[str, set[str]] = {}
    for member, those in read.items():
        of_clients.setdefault(ids.get(member, ""), set()).update(those)
    services = [those for name, those in of_clients.items() if name and by_client_id(name) is None]
    sets = _sets([*read.values(), *services])
    is_apart = len({id(each) for each in sets.values()}) > 1
    topics_of: dict[str, list[str]] = {}
    for member, those in read.items():
        like = those or (of_clients[ids[member]] if ids.get(member) else ())
        assumed = set().union(*(sets[topic] for topic in like))
        likely = assumed if is_apart and assumed else everything
        topics_of[member] = known.get(member) or [topic for topic in everything if topic in likely]
    others = {member: topics_of[member] for member in read if member not in known}
    is_plain = not is_apart and all(set(read[member]) >= set(those) for member, those in others.items())
    notes = [] if is_plain or not others else [_sentence(everything, others, read, is_apart=is_apart)]
    return topics_of, (*notes, *_denied(read, known), *_unsubscribed(everything, topics_of))


def subscribe(
    group: Json, client_ids: Mapping[str, str], named: Mapping[str, Collection[str]] | None = None
) -> tuple[str, ...]:
    """Set the `topics` of a group's members, which have what they own by topic; return what was assumed.

    Raises:
        PartwrightError: See `subscriptions_of`.
    """
    read = {member["id"]: member["owned"] for member in group["members"]}
    topics_of, assumed = subscriptions_of(group["topics"], read, client_ids, named)
    for member in group["members"]:
        member["topics"] = topics_of[member["id"]]
    return assumed


def parse_subscription(text: str) -> tuple[str, list[str]]:
    """A member and its topics, from text such as `c1=orders,users`.

    Raises:
        PartwrightError: The text has another form.

    Examples:
        >>> parse_subscription("c1=orders, users")
        ('c1', ['orders', 'users'])
    """
    # An ID may have an equals sign, but no topic has.
    member, _, topics = text.rpartition("=")
    names = [topic.strip() for topic in topics.split(",")]
    if not member.strip() or not all(names):
        raise PartwrightError(f"subscriptions are named as member=orders,users, not {shown(text)}")
    return member.strip(), names


def check_subscriptions(named: object) -> dict[str, list[str]]:
    """Named subscriptions whose form is valid.

    Raises:
        PartwrightError: It is not an object of lists of topics, or a list is empty.
    """
    if not isinstance(named, Mapping):
        raise refused(named, "subscriptions", f"is an object of members and their topics, not {shown(named)}")
    lists = {
        name: list(listed(those, f"subscriptions of {shown(name)}", str)) for name, those in named.items()
    }
    empty = next((name for name, those in lists.items() if not those), None)
    if empty is not None:
        raise PartwrightError(f"subscriptions has no topics for {shown(empty)}: name one, or leave it out")
    return lists


def _known(
    topics: Sequence[str], members: Sequence[str], ids: Mapping[str, str], named: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The named subscriptions, by member ID."""
    known: dict[str, list[str]] = {}
    for name, those in named.items():
        strange = next((topic for topic in those if topic not in topics), None)
        if strange is not None:
            reason = unknown(strange, "topic", topics, "the group")
            raise PartwrightError(
                f"subscriptions of {shown(name)}: {reason}. Correct it, or name its partitions with --topics"
            )
        whose = [name] if name in members else [member for member in members if ids.get(member) == name]
        if not whose:
            raise PartwrightError(
                f"subscriptions: {unknown(name, 'member or client ID', members, 'the group')}"
            )
        twice = next((member for member in whose if member in known), None)
        if twice is not None:
            raise PartwrightError(
                f"subscriptions has {shown(twice)} twice, by its member ID and by its client ID: name it once"
            )
        known |= {member: list(those) for member in whose}
    return known


def _sets(reading: Iterable[Collection[str]]) -> dict[str, set[str]]:
    """By topic, the set that it is in: topics that one member reads are in one set."""
    sets: dict[str, set[str]] = {}
    for those in reading:
        joined = {id(each): each for each in (sets.setdefault(topic, {topic}) for topic in those)}
        if len(joined) > 1:
            # The smaller ones go into the largest, so that no topic is moved often.
            largest, *others = sorted(joined.values(), key=len, reverse=True)
            for each in others:
                largest |= each
                sets |= dict.fromkeys(each, largest)
    return sets


def _sentence(
    everything: Sequence[str],
    others: Mapping[str, Sequence[str]],
    read: Mapping[str, Collection[str]],
    *,
    is_apart: bool,
) -> str:
    kinds = Counter((tuple(those), bool(read[member]) or not is_apart) for member, those in others.items())
    all_kinds = _first(
        [_kind(count, those, everything, reads=reads) for (those, reads), count in kinds.items()]
    )
    why = ", as members read separate sets of topics" if is_apart else ""
    return f"assumed subscriptions{why}: {all_kinds}; correct them with --subscriptions"


def _denied(read: Mapping[str, Collection[str]], known: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The note about members that read topics to which they are said not to subscribe."""
    readers = [
        f"{shown(member)} reads {_list(sorted(more))}"
        for member, those in known.items()
        if (more := set(read[member]) - set(those))
    ]
    if readers:
        what = "members read topics to which they do not subscribe by --subscriptions"
        yield f"{what}: {_first(readers)}; check --subscriptions"


def _unsubscribed(everything: Sequence[str], topics_of: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The note about topics to which nobody subscribes."""
    subscribed = {topic for those in topics_of.values() for topic in those}
    if alone := [topic for topic in everything if topic not in subscribed]:
        yield f"nobody subscribes to {_list(alone)}; name who does with --subscriptions"


def _first(words: Sequence[str]) -> str:
    more = len(words) - _NAMED
    return ", ".join([*words[:_NAMED], f"{more:,} more likewise"] if more > 0 else words)


def _kind(count: int, topics: Sequence[str], everything: Sequence[str], *, reads: bool) -> str:
    who = counted(count, "member") if reads else f"{counted(count, 'member')} without partitions"
    return f"{who} to {'all topics' if len(topics) == len(everything) > 1 else _list(topics)}"


def _list(topics: Sequence[str]) -> str:
    more = f" and {len(topics) - _NAMED:,} more" if len(topics) > _NAMED else ""
    return f"{' and '.join(topics[:_NAMED])}{more}"
