"""Avro's container files, by fastavro: some of their columns in batches."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from uuid import UUID

import pyarrow as pa

from partwright._check import first_line
from partwright.errors import MissingExtraError, PartwrightError
from partwright.files.avro_blocks import AvroBlockError, UncompressedAvro
from partwright.files.formats import Opened, find_column, path_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partwright.files.formats import Column, ColumnRequest, Writable

__all__ = ["AvroRecords"]

_BATCH = 1 << 14


class AvroRecords(Opened):
    """An Avro file; see `partwright.files.formats.Records`. A field within a record is named by its path, `user.id`."""

    format = "avro"
    is_text = False
    done = None

    def __init__(self, path: str, file: BinaryIO) -> None:
        super().__init__(file)
        try:
            import fastavro
        except ImportError as error:
            raise MissingExtraError("fastavro is missing: pip install 'partwright[avro]'") from error
        self._path = path
        try:
            self._reader = fastavro.reader(cast("BinaryIO", UncompressedAvro(file)))
        except Exception as error:  # fastavro passes on whatever its parts raise
            raise self._broken(error, f"its schema cannot be read: {first_line(error)}") from error
        try:
            # fastavro would end the process at one, and take all memory at the other.
            _takes_no_bytes(self._reader.writer_schema, {})
        except ValueError as error:
            raise PartwrightError(f"{path!r} is not read: {error}", path=path) from error

    def read(self, wanted: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        names = self._names()
        paths = [path_in(names, column.name) for column in wanted]
        for column, path in zip(wanted, paths, strict=True):
            if path[0] not in names:
                find_column(self._path, names, column.name)
        records = iter(self._reader)
        while True:
            try:
                batch = list(islice(records, _BATCH))
            except Exception as error:
                why = "the bytes of a record are not what its schema says"
                raise self._broken(error, why) from error
            if not batch:
                return
            yield tuple(
                self._column([_at(record, path) for record in batch], column)
                for column, path in zip(wanted, paths, strict=True)
            )

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        yield dict.fromkeys(self._names(), pa.null())

    def _names(self) -> list[str]:
        schema = self._reader.writer_schema
        if not isinstance(schema, dict) or schema.get("type") != "record":
            raise PartwrightError(
                f"{self._path!r} has no records: its Avro schema is not a record", path=self._path
            )
        return [field["name"] for field in schema["fields"]]

    def extend(
        self,
        key: ColumnRequest,  # noqa: ARG002 - as the protocol has it
        name: str,  # noqa: ARG002
        computed: Callable[[Column], Column],  # noqa: ARG002
        sink: Writable,  # noqa: ARG002
    ) -> None:
        """Avro files are only read."""
        raise PartwrightError(
            f"{self._path!r} is Avro, to which no column is added: write it as Parquet first, or use `check`",
            path=self._path,
        )

    def _column(self, values: list[Any], wanted: ColumnRequest) -> Column:
        try:
            return pa.array([str(each) if isinstance(each, UUID) else each for each in values])
        except (pa.ArrowException, OverflowError) as error:
            raise PartwrightError(
                f"column {wanted.name!r} of {self._path!r} is of more than one type ({first_line(error)})",
                path=self._path,
            ) from error

    def _broken(self, error: Exception, why: str) -> PartwrightError:
        """The error for a file that is not whole: ours, if its blocks say why, else why fastavro cannot read them."""
        reason = str(error) if isinstance(error, AvroBlockError) else why
        return PartwrightError(
            f"{self._path!r} is not a whole Avro file ({reason}): it may be cut off",
            path=self._path,
        )


def _at(record: Any, path: Sequence[str]) -> Any:
    for name in path:
        if not isinstance(record, dict):
            return None
        record = record.get(name)
    return record


def _takes_no_bytes(schema: Any, named: dict[str, bool | None]) -> bool:
    """Whether the values of a schema take no bytes.

    Args:
        schema: The schema.
        named: The answer for each type that has a name; None for a record around this schema.

    Raises:
        ValueError: It has a record within itself, which may be nested to any depth; or an array of values without
            bytes, of which a few bytes could claim any number.
    """
    if isinstance(schema, str):
        answer = named.get(schema, schema == "null")
        if answer is None:
            raise ValueError(
                f"its record {schema!r} has itself as a part, to any depth: write it as Parquet first"
            )
        return answer
    if isinstance(schema, list):
        # Each value of a union begins with the place of its type.
        for each in schema:
            _takes_no_bytes(each, named)
        return False
    kind = schema["type"]
    if kind in ("record", "error"):
        named[schema["name"]] = None
        fields = [_takes_no_bytes(field["type"], named) for field in schema["fields"]]
        named[schema["name"]] = all(fields)
        return all(fields)
    if kind == "array" and _takes_no_bytes(schema["items"], named):
        raise ValueError("it has an array of nulls, of which a few bytes could claim any number")
    if kind == "map":
        _takes_no_bytes(schema["values"], named)
    if kind == "fixed":
        empty: bool = schema["size"] == 0
        named[schema["name"]] = empty
        return empty
    if kind == "enum":
        named[schema["name"]] = False
    return kind not in ("array", "map", "enum") and _takes_no_bytes(kind, named)
