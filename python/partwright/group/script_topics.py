"""The topics of a script while it is read: existing ones, deleted ones, and names that collide."""

from __future__ import annotations

from collections.abc import Mapping

from partwright._check import MOST_INT, listed, refuse_many, shown, unknown, whole
from partwright.cluster.topic_names import check_topic, collisions
from partwright.errors import PartwrightError
from partwright.group.coordinator import is_text

__all__ = ["ScriptTopics", "counts_of", "name_of"]


class ScriptTopics:
    """The topics.

    Args:
        given: By name, how many partitions each has at first.

    Attributes:
        given: Their names.
        first: The same, and None for those that are made later, in the order of the first mention.
        now: How many partitions each has by now; None where there is no such topic.
        deleted: Those that were deleted.
    """

    def __init__(self, given: object) -> None:
        topics = {} if given is None else given
        if not isinstance(topics, Mapping):
            raise PartwrightError(
                f'topics are numbers of partitions by name, as {{"t": 4}}, not {shown(topics)}'
            )
        self.first: dict[str, int | None] = {
            _checked(name): whole(count, f"the number of partitions of topic {name}", 1, MOST_INT)
            for name, count in topics.items()
        }
        if not self.first:
            raise PartwrightError(
                "a script has no topics: name at least one, with how many partitions it has"
            )
        self._numbers = {name: number for number, name in enumerate(self.first)}
        self._lists: dict[tuple[str | None, ...], list[int]] = {}
        self.given = list(self.first)
        self.now: dict[str, int | None] = dict(self.first)
        self.deleted: set[str] = set()
        self.refuse_too_many("")
        self.refuse_collisions("")

    def mention(self, name: object, where: str) -> None:
        """A topic is named that may be made later, and has its number from then on."""
        if isinstance(name, str) and name in self.first:
            return
        checked = _checked(name, f"{where}: ")
        self._numbers[checked] = len(self.first)
        self.first[checked] = None
        self.now[checked] = None

    def numbers_of(self, where: str, topics: object) -> list[int]:
        """The numbers of the topics that somebody subscribes to, who may wait for one that nobody has made yet."""
        names = [topics] if isinstance(topics, str) else listed(topics, f"{where}: topics")
        if not names:
            raise PartwrightError(
                f"{where}: topics is empty: a consumer that subscribes to nothing is not a member, so let it leave"
            )
        # A thousand members may each name a thousand topics, mostly the same ones.
        key = tuple(name if isinstance(name, str) else None for name in names)
        if key not in self._lists:
            for name in names:
                self.mention(name, where)
            self._lists[key] = [self.number_of(name) for name in dict.fromkeys(names)]
        return self._lists[key]

    def count_of(self, where: str, name: object) -> int:
        """How many partitions a topic has that is there."""
        count = self.now.get(name) if isinstance(name, str) else None
        if count is not None:
            return count
        if isinstance(name, str) and name in self.deleted:
            raise PartwrightError(f"{where}: topic {name!r} was deleted before")
        there = [topic for topic, those in self.now.items() if those is not None]
        raise PartwrightError(f"{where}: {unknown(name, 'topic', there)}")

    def change(self, where: str, name: str, count: int | None) -> tuple[int, int | None]:
        """A topic has so many partitions from now on, or is gone: its number with them."""
        self.now[name] = count
        self.refuse_too_many(f"{where}: ")
        return self.number_of(name), count

    def refuse_too_many(self, where: str) -> None:
        """Refuses more partitions than can be played."""
        refuse_many(sum(count or 0 for count in self.now.values()), "a play", where)

    def refuse_collisions(self, where: str) -> None:
        """Refuses two topics that Kafka's metrics would take for one."""
        for one, other, *_ in collisions(name for name, count in self.now.items() if count is not None):
            raise PartwrightError(
                f"{where}topics {one!r} and {other!r} cannot stand side by side: Kafka's metrics write '.' as '_'"
            )

    def number_of(self, name: str) -> int:
        """A topic's number, in the order of the first mention."""
        return self._numbers[name]


def counts_of(where: str, given: object, kind: str) -> list[tuple[str, int]]:
    """Numbers of partitions by topic, of an event."""
    if not isinstance(given, Mapping) or not given:
        raise PartwrightError(
            f'{where}: {kind} has numbers of partitions by topic, as {{"t": 4}}, not {shown(given)}'
        )
    return [
        (name, whole(count, f"topic {name}", 1, MOST_INT, where=f"{where}: "))
        for name, count in given.items()
    ]


def name_of(given: object, what: str) -> str:
    """A name, which is text and not empty."""
    if not is_text(given) or not given:
        raise PartwrightError(f"{what} is named by text, not {shown(given)}")
    return given


def _checked(given: object, where: str = "") -> str:
    try:
        return check_topic(name_of(given, "a topic"))
    except PartwrightError as error:
        raise PartwrightError(f"{where}{error}") from None
