"""A group over time: generations, who read what and when, and what it cost while nobody read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from partwright._check import Json, shown, whole
from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.group.readers import Readers, chart

if TYPE_CHECKING:
    from partwright import _core
    from partwright.group.leaders_client import LeadersClient
    from partwright.group.script import Script


class Cost(NamedTuple):
    """What a group's rebalances cost.

    Attributes:
        generations: How many there were.
        moved: How often a partition went from one member to another.
        unowned_s: The seconds in which partitions had no reader, summed up over the partitions.
        longest_s: The longest time for which one partition had none.
        not_read: How many records came meanwhile, at the script's `records_per_s`.
        read_twice: How many records the next member read again, because their offsets were not committed.
    """

    generations: int
    moved: int
    unowned_s: float
    longest_s: float
    not_read: float
    read_twice: float


class Timeline(Answer):
    """A simulated group over time.

    Attributes:
        members: The members' names.
        ended_ms: When the play ended.
        settled: Whether nothing moved any more by then.
        chart_width: How many columns its chart takes where no picture can be shown.
        races: The result of `partwright.group.races`, if that was asked for, too.
    """

    DOCUMENT = "group"
    chart_width: int = 88
    races: Mapping[str, Cost] = MappingProxyType({})

    def __init__(
        self,
        script: Script,
        timeline: _core.Timeline,
        *,
        keeps_spans: bool,
        leaders_client: LeadersClient | None = None,
    ) -> None:
        """Wraps what the core played; `play` makes timelines."""
        self._script = script
        self._leaders_client = leaders_client
        self._keeps_spans = keeps_spans
        self._timeline = timeline
        self._topics = list(script.topics)
        self.members = script.members
        self.ended_ms, self.is_settled = timeline.end()

    def to_arrow(self) -> pa.Table:
        """The main table: `partitions`."""
        return self.partitions()

    def generations(self) -> Iterator[Json]:
        """The generations, one after the other.

        Yields:
            `generation` (with the protocol consumer the epoch of the target assignment), `at_ms`, `why`, `leader` (None
            if nobody is left, and with the protocol consumer, where the broker assigns) and `assignment`, lists of
            (topic, partition) by member, in the order of Kafka's own lists.

            If the script names clients, also `assignor`, the leader's, such as `sarama:sticky` (None if nobody has
            assigned), `left_out`, the members whose subscription the leader cannot read, `forgotten`, those that own
            partitions without the leader knowing it, and `chance`: whether this is one of several answers that the leader's
            client may give.

        Examples:
            >>> from partwright.group import play
            >>> timeline = play({"topics": {"t": 2}, "events": [{"at_ms": 0, "join": "c1"}]})
            >>> list(timeline.generations())
            [{'generation': 1, 'at_ms': 3013, 'why': 'c1 joined', 'leader': 'c1', 'assignment': {'c1': [('t', 0), ('t', 1)]}}]
        """  # noqa: E501 - an example is one line
        members = list(self.members)
        for place, generation in enumerate(self._timeline.generations()):
            leader = generation["leader"]
            client = self._leaders_client
            yield {
                **{name: generation[name] for name in ("generation", "at_ms", "why")},
                "leader": None if leader is None else self.members[leader],
                "assignment": self._timeline.assignment(place, members, self._topics),
                **({} if client is None else client.answer_of(generation["generation"])),
            }

    def protocols(self) -> list[str | None]:
        """The assignor of each generation, as its members voted; None if nobody is left, or the broker assigns."""
        return [generation["protocol"] for generation in self._timeline.generations()]

    @property
    def moved(self) -> int:
        """How often a partition went from one member to another."""
        return sum(moves for _, _, _, moves, _ in self._timeline.readings())

    @property
    def unowned_ms(self) -> dict[str, int]:
        """By partition (`topic-0`), the milliseconds in which nobody read it.

        They count from when the group first reads anything, or from when the partition is made.
        """
        return {self._partition(place): idle_ms for place, idle_ms, *_ in self._timeline.readings()}

    @property
    def cost(self) -> Cost:
        """What the rebalances cost, in a few figures."""
        readings = self._timeline.readings()
        idle_ms = sum(idle for _, idle, _, _, _ in readings)
        rate = self._script.records_per_s / 1000
        return Cost(
            generations=len(self._timeline.generations()),
            moved=sum(moves for _, _, _, moves, _ in readings),
            unowned_s=idle_ms / 1000,
            longest_s=max((longest for _, _, longest, _, _ in readings), default=0) / 1000,
            not_read=idle_ms * rate,
            read_twice=sum(again for *_, again in readings) * rate,
        )

    def partitions(self) -> pa.Table:
        """The moves and unread times of each partition.

        Returns:
            A table of `topic`, `partition`, `unowned_ms`, `longest_ms`, `moves`, `not_read` and `read_twice` (records,
            at the script's `records_per_s`), sorted.
        """
        readings, rate = self._timeline.readings(), self._script.records_per_s / 1000
        columns = list(zip(*readings, strict=True)) or [()] * 5
        return pa.table(
            {
                "topic": pa.array([self._topics[topic] for topic, _ in columns[0]], pa.string()),
                "partition": pa.array([partition for _, partition in columns[0]], pa.int32()),
                "unowned_ms": pa.array(columns[1], pa.int64()),
                "longest_ms": pa.array(columns[2], pa.int64()),
                "moves": pa.array(columns[3], pa.int32()),
                "not_read": pa.array([idle * rate for idle in columns[1]], pa.float64()),
                "read_twice": pa.array([again * rate for again in columns[4]], pa.float64()),
            }
        )

    def ownership(self) -> pa.Table:
        """Who read which partition from when to when.

        Returns:
            A table of `member`, `topic`, `partition`, `from_ms`, `to_ms` (null if it still reads at the end) and
            `group` (false for consumers that assigned themselves what they read), by partition and time.

        Raises:
            PartwrightError: The play did not keep it.

        Examples:
            >>> from partwright.group import play
            >>> play({"topics": {"t": 1}, "events": "+1, -1"}).ownership().to_pylist()
            [{'member': 'c1', 'topic': 't', 'partition': 0, 'from_ms': 3033, 'to_ms': 60010, 'group': True}]
        """
        return pa.Table.from_batches(self.ownership_batches(), _OWNERSHIP)

    def ownership_batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """The same as `ownership` in record batches, for plays whose table would be too large.

        Args:
            rows: How many rows a batch has at most, 1 to 1,000,000.

        Yields:
            `pyarrow.RecordBatch`es with the columns of `ownership`, which are made when they are asked for.

        Raises:
            PartwrightError: The play did not keep it, or `rows` is invalid.

        Examples:
            >>> from partwright.group import play
            >>> timeline = play({"topics": {"t": 3}, "events": "+1"})
            >>> [batch.num_rows for batch in timeline.ownership_batches(2)]
            [2, 1]
        """
        self._refuse_unkept()
        whole(rows, "a record batch's rows", 1, _MOST_ROWS)
        return self._batches(rows)

    def _batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        for first in range(0, self._timeline.spans(), rows):
            yield pa.RecordBatch.from_struct_array(self._timeline.ownership(first, rows))
        assigned = [
            (name, topic, partition, from_ms, to_ms, False)
            for name, from_ms, to_ms, partitions in self._script.assigned
            for topic, partition in partitions
        ]
        for first in range(0, len(assigned), rows):
            columns = zip(*assigned[first : first + rows], strict=True)
            arrays = [pa.array(column, of.type) for column, of in zip(columns, _OWNERSHIP, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_OWNERSHIP)

    def readers(self) -> Readers:
        """The sums of `ownership`, for charts and pages; see `partwright.group.readers`.

        Raises:
            PartwrightError: The play did not keep who read what.
        """
        self._refuse_unkept()
        return Readers(self._script, self._timeline)

    def _refuse_unkept(self) -> None:
        if not self._keeps_spans:
            raise PartwrightError("the play did not keep who read what: play it with ownership=True")

    def requests(self) -> pa.Table:
        """The requests that members sent, in the order of their answers, if `play` was asked to keep them.

        Returns:
            A table of `at_ms`, `member`, `request` (Kafka's name), `error` (Kafka's name, or NONE), `generation`,
            `member_id`, `leader_id` and `members`: the number of members in the answer, which only a leader gets.
        """
        rows = [
            {**message, "member": self.members[message["member"]]} for message in self._timeline.messages()
        ]
        return pa.Table.from_pylist(rows, _REQUESTS)

    def unread_at_the_end(self) -> list[str]:
        """The partitions (`topic-0`) that nobody read when the play ended, while others were read.

        Examples:
            >>> from partwright.group import play
            >>> events = [{"at_ms": 0, "join": "c1", "topics": ["t"]}]
            >>> play({"topics": {"t": 1, "u": 2}, "events": events}).unread_at_the_end()
            ['u-0', 'u-1']
        """
        return [self._partition(place) for place in self._timeline.unread()]

    def without_leader(self) -> list[Json]:
        """From when to when which partition had no leader, because its broker was gone: it counts as unread meanwhile.

        Returns:
            `partition` (`topic-0`), `from_ms` and `to_ms`, in the order of the script.

        Examples:
            >>> from partwright.group import play
            >>> events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 60000, "broker": {"t": [1]}, "election_ms": 700}]
            >>> timeline = play({"topics": {"t": 2}, "events": events})
            >>> timeline.without_leader(), timeline.unowned_ms
            ([{'partition': 't-1', 'from_ms': 60000, 'to_ms': 60700}], {'t-0': 0, 't-1': 700})
        """
        return [
            {"partition": f"{topic}-{number}", "from_ms": from_ms, "to_ms": to_ms}
            for topic, number, from_ms, to_ms in self._script.leaderless
        ]

    def failures(self) -> list[Json]:
        """The members that ended with an error: `at_ms`, `member` and `error`.

        The error is Kafka's name of it or, of a leader whose client fails, a sentence.
        """
        failures = self._errors(self._timeline.failures())
        if self._leaders_client is not None:
            failures += self._leaders_client.failures
        return sorted(failures, key=lambda each: each["at_ms"])

    def commits(self) -> list[Json]:
        """The commits that the script asked for, and their answers: `at_ms`, `member` and `error` (or NONE)."""
        return self._errors(self._timeline.commits())

    def to_dict(self) -> Json:
        """As in `partwright group --json`.

        `generations`, `moved` and `unowned_ms`, and, if there are any, `without_leader`, `failures` and `commits`.
        """
        more = {
            "without_leader": self.without_leader(),
            "failures": self.failures(),
            "commits": self.commits(),
        }
        return {
            "generations": list(self.generations()),
            "moved": self.moved,
            "unowned_ms": self.unowned_ms,
            **{name: those for name, those in more.items() if those},
        }

    def chart(self, width: int = 100) -> str:
        """Members over time as text: how many partitions each reads, and how many nobody reads.

        Args:
            width: How many columns the text may take, 40 to 1000.

        Raises:
            PartwrightError: It is narrower, or the play did not keep who read what.
        """
        if type(width) is not int or not _NARROWEST <= width <= _WIDEST:
            raise PartwrightError(
                f"a chart's width is a whole number from {_NARROWEST} to {_WIDEST}, not {shown(width)}"
            )
        return chart(self.readers(), width)

    def _errors(self, errors: list[tuple[int, int, str]]) -> list[Json]:
        return [
            {"at_ms": at_ms, "member": self.members[member], "error": error}
            for at_ms, member, error in errors
        ]

    def _partition(self, place: tuple[int, int]) -> str:
        return f"{self._topics[place[0]]}-{place[1]}"


_NARROWEST, _WIDEST = 40, 1000
_MOST_ROWS = 1_000_000
_OWNERSHIP = pa.schema(
    [
        ("member", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("from_ms", pa.int64()),
        ("to_ms", pa.int64()),
        ("group", pa.bool_()),
    ]
)
_REQUESTS = pa.schema(
    [
        ("at_ms", pa.int64()),
        *((name, pa.string()) for name in ("member", "request", "error")),
        ("generation", pa.int32()),
        *((name, pa.string()) for name in ("member_id", "leader_id")),
        ("members", pa.int32()),
    ]
)
