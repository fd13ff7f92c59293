"""A group of the benches as Arrow's tables, made anew for each turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

import partwright as pw

if TYPE_CHECKING:
    from assignor_groups import ClientCase

__all__ = ["Given", "GroupTables"]


class Given(NamedTuple):
    """The arguments of `pw.assign`."""

    topics: pa.Table
    members: pa.Table
    owned: pa.Table | None


class GroupTables:
    """The tables of a case: members' topics are a dictionary, and owned partitions are as `to_arrow` gives them."""

    def __init__(self, case: ClientCase) -> None:
        self._assignor = case.assignor
        names = list(case.topics)
        places = {name: place for place, name in enumerate(names)}
        topics: dict[str, Any] = {"topic": names, "partitions": list(case.topics.values())}
        if case.racks is not None:
            topics["racks"] = [case.racks[name] for name in names]
        self._topics = pa.table(topics)
        ends, flat = [0], []
        for member in case.members:
            flat += [places[name] for name in member["topics"]]
            ends.append(len(flat))
        lists = pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), pa.DictionaryArray.from_arrays(pa.array(flat, pa.int32()), names)
        )
        columns: dict[str, Any] = {"member": [member["id"] for member in case.members], "topics": lists}
        columns |= {
            field: [member.get(field) for member in case.members]
            for field in ("generation", "rack")
            if any(field in member for member in case.members)
        }
        self._owned = self._earlier(case, names, places)
        self._members = pa.table(columns)

    def fresh(self) -> Given:
        """Copies of all tables, so that no cache has anything of an earlier turn."""
        owned = None if self._owned is None else _copy(self._owned)
        return Given(_copy(self._topics), _copy(self._members), owned)

    def assign(self, given: Given) -> pw.Assignment:
        """The answer for these tables."""
        return pw.assign(given.topics, given.members, self._assignor, owned=given.owned)

    @staticmethod
    def _earlier(case: ClientCase, names: list[str], places: dict[str, int]) -> pa.Table | None:
        if not any("owned" in member for member in case.members):
            return None
        members = [member["id"] for member in case.members]
        reader, topic, partition = [], [], []
        for place, member in enumerate(case.members):
            for name, number in member.get("owned", ()):
                reader.append(place)
                topic.append(places[name])
                partition.append(number)
        return pa.table(
            {
                "member": pa.DictionaryArray.from_arrays(pa.array(reader, pa.int32()), members),
                "topic": pa.DictionaryArray.from_arrays(pa.array(topic, pa.int32()), names),
                "partition": pa.array(partition, pa.int32()),
            }
        )


def _copy(table: pa.Table) -> pa.Table:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()
