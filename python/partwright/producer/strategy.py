"""One of Kafka's strategies: which columns it needs, and where it puts a table's records.

>>> strategies().column("strategy").to_pylist()[2:5]
['round-robin', 'round-robin@3.9.2', 'round-robin@2.8']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partwright import _core
from partwright.errors import KeyTypeError, PartwrightError
from partwright.keys.hashing import encode
from partwright.producer.records import network

if TYPE_CHECKING:
    from partwright.cluster import Cluster
    from partwright.producer.configs import Configs
    from partwright.producer.records import RecordChunk

__all__ = ["Strategy", "strategies"]


def strategies() -> pa.Table:
    """The strategies, one row each.

    Returns:
        A table of `strategy` (its name), `source` (the Kafka classes that it is exact for), `takes_keyed` (whether it
        stands for a configured `partitioner.class`, which also chooses for records with keys) and `counts_bytes`
        (whether it needs the records' sizes).

    Examples:
        >>> strategies().column("strategy").to_pylist()[2:5]
        ['round-robin', 'round-robin@3.9.2', 'round-robin@2.8']
    """
    names = ("strategy", "source", "takes_keyed", "counts_bytes")
    return pa.table(
        {
            name: list(column)
            for name, column in zip(names, zip(*_core.strategies(), strict=True), strict=True)
        }
    )


class Strategy:
    """One of Kafka's strategies with its configuration.

    Args:
        name: Its name, one of `strategies()`.
        configs: The producer's.
        key_type: How a key becomes key bytes.

    Attributes:
        counts_bytes: Whether it needs the records' sizes.
    """

    def __init__(self, name: str, configs: Configs, key_type: str | None) -> None:
        self.name, self._configs, self._key_type = name, configs, key_type
        _, _, self._is_configured, self.counts_bytes = next(
            row for row in _core.strategies() if row[0] == name
        )

    @property
    def is_built_in(self) -> bool:
        """Whether this strategy is `BuiltInPartitioner`, Kafka's default since 3.3."""
        return self.name in {"sticky@3.3", "sticky@4.4"}

    @property
    def is_told(self) -> bool:
        """Whether the choice depends on new batches."""
        return self.counts_bytes and not self.is_built_in

    @property
    def takes_keyed(self) -> bool:
        """Whether the strategy also chooses for records with keys."""
        return self._is_configured or (self.is_built_in and self._configs.ignore_keys)

    @property
    def keeps_state(self) -> bool:
        """Whether a record's partition may depend on the records before it."""
        is_stateless = self.name == "key" or (
            self.name in {"explicit", "field"} and self._configs.otherwise == "error"
        )
        return not is_stateless

    def key_bytes(self, key: Any) -> bytes | None:
        """One record's key, or its field under the strategy `field`, as bytes."""
        if key is None:
            return None
        if self.name == "field" and self._configs.field_type == "address":
            return network(key, self._configs)
        data = encode(key, self._key_type)
        if data is not None and not isinstance(data, bytes):
            raise KeyTypeError(
                f"a record has one key, not a {type(key).__name__}: place takes a table of records"
            )
        return data

    def place(self, core: _core.Producer, records: RecordChunk, cluster: Cluster) -> pa.Array:
        """The partitions of some records, each put into its batch.

        Args:
            core: The strategy's state.
            records: The records.
            cluster: The metadata.
        """
        columns = {
            "topic": records.topics,
            "partition": records.partitions(),
            "keyed": self._keyed(core, records, cluster),
            **self._sizes(records),
            "time": records.times(),
        }
        there = {name: column for name, column in columns.items() if column is not None}
        # A struct of no columns would have no rows.
        there.setdefault("time", pa.nulls(len(records), pa.int64()))
        return core.place(pa.StructArray.from_arrays(list(there.values()), list(there)))

    def _keyed(self, core: _core.Producer, records: RecordChunk, cluster: Cluster) -> pa.Array | None:
        """The partition of each key, or field, by the number of its topic's partitions."""
        is_field = self.name == "field"
        if (
            self._is_configured
            and not is_field
            and not (self.name == "leader" and self._configs.leader_among == "key")
        ):
            return None
        if self.is_built_in and self._configs.ignore_keys:
            return None
        keys = records.field(self._configs) if is_field else records.keys()
        if keys is None:
            if is_field:
                raise PartwrightError(
                    "the strategy field goes by a column of the records: name it with field="
                )
            return None
        key_type = "bytes" if is_field and self._configs.field_type == "address" else self._key_type
        return records.by_topic(keys, lambda some, n: core.partition_for_key(some, n, key_type), cluster)

    def _sizes(self, records: RecordChunk) -> dict[str, pa.Array | None]:
        if not self.counts_bytes:
            return {}
        values = records.value_sizes()
        if values is None and self.name == "round-robin@3.9.2" and records.partitions() is None:
            # A new batch changes nothing if no record names its partition.
            return {}
        if values is None:
            raise PartwrightError(
                f"the strategy {self.name} counts bytes: give the records' values (value=) or their sizes (size=)"
            )
        sizes = {"key_size": records.key_sizes(self._key_type), "value_size": values}
        return {**sizes, "headers": records.header_sizes()}
