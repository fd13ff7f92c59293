"""Compare where records are with where a client puts them, summed up batch by batch in bounded memory.

>>> found = Check(15)
>>> found.add(pa.array(["TT0124", "N14228", None]), pa.array([10, 3, 7]))
>>> found.rows, found.misplaced, found.undetermined
(3, 1, 1)
>>> print(found.examples[0])
row 1: key N14228 is in partition 3, java puts it into 8
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from operator import index
from typing import SupportsIndex

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright._check import MOST_INT, Json, counted, whole
from partwright._text import plain
from partwright.answer import Answer
from partwright.audit.key_sums import Observed
from partwright.audit.pair_tables import HeavyKey
from partwright.audit.record_columns import array_named, whole_numbers
from partwright.audit.skew import WAYS, Salted, Skew, read_share, salted
from partwright.errors import PartwrightError
from partwright.files.formats import Column, in_one
from partwright.files.scalars import FALSE, number
from partwright.keys.columns import as_arrow
from partwright.keys.hashing import encode, partition_for_key
from partwright.keys.key_columns import key_arrays
from partwright.keys.key_text import short, shown_key

# If there are more partitions than this, a list leaves out the ones without rows.
_LISTED = 10_000
_HEAVY = 10


class Placer:
    """Compute the partitions of a file's keys, batch by batch; errors name the row of the whole file.

    Args:
        n: How many partitions the topic has.
        client: The client profile.
        key_type: How a value becomes key bytes.

    Raises:
        PartwrightError: One of them is invalid.

    Examples:
        >>> placer = Placer(15)
        >>> placer.place(pa.array(["TT0124", None])).to_pylist(), placer.rows, placer.null_keys
        ([10, None], 2, 1)
    """

    def __init__(self, n: SupportsIndex, client: str = "java", key_type: str | None = None) -> None:
        self.key_type = _core.check(n, client, key_type)
        self.n = index(n)
        self.client = client
        self.rows = 0
        self.null_keys = 0

    def place(self, keys: Column, where: Callable[[int], str] | None = None) -> Column:
        """The partitions of the next keys.

        Args:
            keys: A column.
            where: What an error calls one of its rows; by default the row of the whole file.

        Returns:
            The column that `partition_for_key` gives.

        Raises:
            PartwrightError: A key has no key bytes under the key type.
        """
        with _rows_named(where or self._where, self.rows):
            partitions = partition_for_key(as_arrow(keys, self.key_type), self.n, self.client, self.key_type)
        self.rows += len(keys)
        self.null_keys += _null_count(keys, self.key_type)
        return partitions

    def _where(self, row: int) -> str:
        return f"row {self.rows + row}"


@dataclass(frozen=True)
class Example:
    """A record that is not where the client puts it.

    Attributes:
        row: Its row in the file, from 0; None for a topic's.
        offset: Its offset in the topic's partition; None for a file's.
        key: Its key, for people.
        partition: Its given partition; None if it is null.
        expected: Where the client puts it; None if that may be anywhere.
        client: The client profile.
        rows: How many records of the key are there; None if the row or the offset belongs to one record.
    """

    row: int | None
    offset: int | None
    key: str
    partition: int | None
    expected: int | None
    client: str
    rows: int | None = None

    def to_dict(self) -> Json:
        """The object for the JSON output, without `rows` if there is a row or an offset."""
        fields = asdict(self)
        if self.rows is None:
            del fields["rows"]
        return fields

    def __str__(self) -> str:
        at = f"row {self.row}" if self.offset is None else f"partition {self.partition}, offset {self.offset}"
        if self.rows is not None:
            at = counted(self.rows, "row")
        place = "in no partition" if self.partition is None else f"in partition {plain(self.partition)}"
        expectation = "may put it anywhere" if self.expected is None else f"puts it into {self.expected}"
        return f"{at}: key {short(self.key)} is {place}, {self.client} {expectation}"


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """What a check demands of the partitions' shares, and how much it lists.

    Attributes:
        max_share: The largest share of the rows that a partition may have: 0.05 or "5%"; None for any.
        min_used: The smallest share of the partitions that must have rows: 0.9 or "90%"; None for any.
        show: How many misplaced records are kept as examples; in Spark, how many of their keys, the heaviest.

    Raises:
        PartwrightError: One of them is neither a share nor a whole number.
    """

    max_share: float | str | None = None
    min_used: float | str | None = None
    show: int = 10

    def __post_init__(self) -> None:
        self.shares()
        whole(self.show, "show", 0, MOST_INT)

    def shares(self) -> tuple[float | None, float | None]:
        """`max_share` and `min_used` from 0 to 1."""
        return read_share(self.max_share, "max_share"), read_share(self.min_used, "min_used")


class Check(Answer):
    """The result of a check.

    Args:
        n: How many partitions the topic has.
        client: The client profile whose partitions are right.
        key_type: How a value becomes key bytes.
        limits: What is demanded of the shares, and how many misplaced records are kept as examples.
        among: How many partitions were read, if not all: shares are of these.

    Attributes:
        n: How many partitions the topic has.
        among: How many of them are read.
        client: The client profile.
        rows: Rows seen.
        null_keys: Those without a key.
        misplaced: Records that are not where the client puts them, including those in no partition from 0 to n-1; None
            if no partitions were given, so that nothing was compared.
        undetermined: Records whose partition the client does not determine: they may be in any, or in none.
        nowhere: Misplaced records without a partition: it is null or empty.
        outside: Misplaced records in no partition from 0 to n-1, those included; None if another engine counted.
        examples: The first that are misplaced.

    Raises:
        PartwrightError: n, the client or the key type is invalid.
    """

    DOCUMENT = "check"
    ROWS = "partitions"

    def __init__(
        self,
        n: SupportsIndex,
        client: str = "java",
        key_type: str | None = None,
        *,
        limits: CheckLimits | None = None,
        among: int | None = None,
    ) -> None:
        self._placer = Placer(n, client, key_type)
        self.n, self.client = self._placer.n, client
        self.among = self.n if among is None else among
        self._limits = limits or CheckLimits()
        self.misplaced: int | None = None
        self.undetermined = 0
        self.nowhere = 0
        self.outside: int | None = 0
        self.examples: list[Example] = []
        self._seen = Observed()

    @property
    def rows(self) -> int:
        """Rows seen."""
        return self._seen.rows

    @property
    def null_keys(self) -> int:
        """Rows without a key."""
        return self._seen.null_keys

    @property
    def is_all_empty(self) -> bool:
        """Whether every record has a key, and every key is empty: their writer may have meant none."""
        return self._seen.is_all_empty

    @property
    def ok(self) -> bool:
        """Whether every record is where the client puts it, as far as it determines that, and the contract holds."""
        return not self.misplaced and not self.broken

    @property
    def skew(self) -> Skew:
        """How evenly the partitions are filled."""
        return Skew(self.among, self._seen.rows_in, self._seen.keys_in(), self._seen.scale)

    @property
    def broken(self) -> list[str]:
        """The broken parts of the contract on shares, a sentence each."""
        return self._shares.broken(*self._limits.shares())

    @property
    def has_contract(self) -> bool:
        """Whether there is a contract."""
        return self._limits.shares() != (None, None)

    @property
    def used(self) -> int:
        """How many partitions have rows."""
        return len(self._seen.rows_in)

    @property
    def largest_share(self) -> float:
        """The largest partition's share of the rows that are in one, 0 to 1."""
        return self._shares.largest_share

    @property
    def _shares(self) -> Skew:
        """`skew` without the keys, which take a while to count."""
        return Skew(self.among, self._seen.rows_in, None)

    @property
    def heavy_keys(self) -> list[Json]:
        """The hot keys, as in the JSON: the 10 with the most rows, the heaviest first, with `partition` and `rows`.

        Examples:
            >>> import partwright as pw
            >>> pw.check({"user": ["a", "b", "a"]}, "user", 12).heavy_keys[0]
            {'key': 'a', 'rows': 2, 'partition': 4}
        """
        return self._listed(self._heaviest())

    @property
    def note(self) -> str | None:
        """Why keys are estimated; None if they were counted."""
        if not self._seen.is_sampled:
            return None
        return (
            f"there are too many keys to count each: their numbers are estimated from one in {self._seen.scale:,}, "
            "and a heavy key has as many rows at least"
        )

    def salted(self, ways: Sequence[int] = WAYS) -> list[Salted]:
        """The largest share if the heaviest keys were split in so many ways; empty if no key is heavy."""
        placed = self._seen.rows_in.total()
        heavy = self._seen.places_of(self._heaviest())
        return salted(heavy, self._seen.rows_in, placed, self.n, self.client, ways)

    def add(self, keys: Column, partitions: Column = None, offsets: Column = None) -> None:
        """Take some records, the next of their file or of a topic.

        Args:
            keys: Their keys.
            partitions: Where they are: whole numbers, or text of such, as `whole_numbers` takes them; None compares
                nothing. Either all records have them or none.
            offsets: Their offsets in a topic's partitions; None for a file's.

        Raises:
            PartwrightError: A key has no key bytes under the key type, a partition is not a whole number, or only some
                records have partitions.
        """
        first = self.rows
        if first and (partitions is None) != (self.misplaced is None):
            raise PartwrightError(
                f"only some records have partitions, from row {first} on: give them for all, or for none"
            )

        partitions = None if partitions is None else array_named(partitions, "partition")
        offsets = None if offsets is None else array_named(offsets, "offset")

        def where(row: int) -> str:
            if partitions is None or offsets is None:
                return f"row {first + row}"
            return f"partition {partitions[row].as_py()}, offset {offsets[row].as_py()}"

        expected = in_one(self._placer.place(keys, where)).cast(pa.int64())
        if partitions is None:
            actual = expected
            self.undetermined += expected.null_count
        else:
            actual = self._compared(keys, partitions, offsets, expected)
        self._seen.add(in_one(encode(as_arrow(keys, self._placer.key_type), self._placer.key_type)), actual)

    def _compared(self, keys: Column, partitions: Column, offsets: Column, expected: pa.Array) -> pa.Array:
        """Count the misplaced records of a batch; returns where its records are, null where no partition is."""
        actual = whole_numbers(partitions, "partition", self.rows, self.n)
        self.misplaced = self.misplaced or 0
        # Most batches have no misplaced record, and one comparison shows it.
        if actual.equals(expected):
            self.undetermined += expected.null_count
            return actual
        inside = pc.fill_null(
            pc.and_(pc.greater_equal(actual, number(0)), pc.less(actual, number(self.n))), FALSE
        )
        open_ = pc.is_null(expected)
        # If the client determines no partition, having none is right too.
        is_nowhere = pc.is_null(actual)
        inside = pc.or_(inside, pc.and_(open_, is_nowhere))
        right = pc.and_(inside, pc.or_(open_, pc.fill_null(pc.equal(actual, expected), FALSE)))
        self.undetermined += pc.sum(pc.and_(right, open_)).as_py() or 0
        wrong = pc.indices_nonzero(pc.invert(right))
        self.misplaced += len(wrong)
        self.nowhere += pc.sum(pc.and_(pc.invert(right), is_nowhere)).as_py() or 0
        self.outside = (self.outside or 0) + len(pc.indices_nonzero(pc.invert(inside)))
        for row in wrong[: max(0, self._limits.show - len(self.examples))].to_pylist():
            self.examples.append(self._example(row, keys, partitions, offsets, expected))
        return pc.if_else(inside, actual, pa.nulls(1, actual.type)[0])

    def take(
        self,
        seen: Observed,
        misplaced: int | None,
        undetermined: int,
        nowhere: int,
        examples: list[Example],
    ) -> None:
        """Take over the sums of another engine: the records by key and by their partition."""
        self._seen = seen
        self.misplaced, self.undetermined, self.examples = misplaced, undetermined, examples
        self.nowhere, self.outside = nowhere, None

    def misplaced_by(self) -> list[dict[str, int]]:
        """From which partitions to which the misplaced records belong, the most first: `partition`, `expected`, `rows`.

        Only records in a partition from 0 to n-1 count, and of very many pairs of partitions only those with the most
        records are kept. The numbers are estimated if there were too many keys to look at all.
        """
        if not self.misplaced:
            return []
        pairs = self._seen.whole()
        pairs = pairs.filter(pc.is_valid(pairs["partition"]))
        expected = partition_for_key(pairs["key"], self.n, self.client).cast(pa.int64())
        elsewhere = pc.fill_null(pc.not_equal(pairs["partition"], expected), FALSE)
        by_pair = (
            pairs.append_column("expected", expected)
            .filter(elsewhere)
            .group_by(["partition", "expected"], use_threads=False)
            .aggregate([("rows", "sum")])
            .rename_columns(["partition", "expected", "rows"])
        )
        order = [("rows", "descending"), ("partition", "ascending"), ("expected", "ascending")]
        top_pairs: list[dict[str, int]] = by_pair.sort_by(order).slice(0, _LISTED).to_pylist()
        return top_pairs

    def to_dict(self) -> Json:
        """The result as an object for the JSON output."""
        keys, rows_in, heavy = self._seen.keys_in(), self._seen.rows_in, self._heaviest()
        listed = range(self.n) if self.n <= _LISTED else sorted(rows_in)
        return {
            "ok": self.ok,
            "rows": self.rows,
            "null_keys": self.null_keys,
            "misplaced": self.misplaced,
            "undetermined": self.undetermined,
            "nowhere": self.nowhere,
            "largest_share": self.largest_share,
            "used": self.used,
            "n": self.n,
            **({} if self.among == self.n else {"among": self.among}),
            "client": self.client,
            "heavy_keys": self._listed(heavy),
            "heavy_keys_lack": max((each.at_most - each.rows for each in heavy), default=0),
            "partitions": [
                {"partition": partition, "rows": rows_in[partition], "keys": keys.get(partition, 0)}
                for partition in listed
            ],
            "keys_estimated": self._seen.is_sampled,
            "salted": [asdict(each) for each in self.salted()],
            "misplaced_by": self.misplaced_by(),
            "examples": [example.to_dict() for example in self.examples],
            "note": self.note,
            "is_all_empty": self.is_all_empty,
            "broken": self.broken,
            **self.skew.to_dict(),
        }

    def _listed(self, heavy: Iterable[HeavyKey]) -> list[Json]:
        return [
            {
                "key": shown_key(each.key, self._placer.key_type),
                "rows": each.rows,
                "partition": each.partition,
            }
            for each in heavy
        ]

    def _heaviest(self) -> list[HeavyKey]:
        # If the client places every key and every record is in its place, a key's rows are in one partition.
        is_in_one = not self.misplaced and self.undetermined <= self.null_keys
        return self._seen.heaviest(_HEAVY, 1 if is_in_one else None)

    def _example(
        self,
        row: int,
        keys: Column,
        partitions: Column,
        offsets: Column,
        expected: Column,
    ) -> Example:
        key = encode(as_arrow(keys, self._placer.key_type).slice(row, 1), self._placer.key_type)[0].as_py()
        actual = partitions[row].as_py()
        return Example(
            row=self.rows + row if offsets is None else None,
            offset=None if offsets is None else offsets[row].as_py(),
            key=shown_key(key, self._placer.key_type),
            # A number that does not fit into 64 bits is shown as it is.
            partition=actual
            if isinstance(actual, int)
            else whole_numbers(partitions, "partition")[row].as_py(),
            expected=expected[row].as_py(),
            client=self.client,
        )


def _null_count(column: Column, key_type: str | None) -> int:
    """How many rows are null; a dictionary's own values may be null, too."""
    count = 0
    for chunk in key_arrays(column, None, key_type):
        hides_nulls = pa.types.is_dictionary(chunk.type) and chunk.dictionary.null_count
        count += (chunk.dictionary_decode() if hides_nulls else chunk).null_count
    return count


@contextmanager
def _rows_named(where: Callable[[int], str], first: int) -> Iterator[None]:
    """Let `where` name the row of a batch in errors; the batch begins at row `first` of the file."""
    try:
        yield
    except PartwrightError as error:
        if error.row is None:
            raise
        raise error.at_row(first + error.row, where(error.row)) from error
