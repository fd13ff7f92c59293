"""Files of JSON objects, one per line. An object's text stays as written; a new member goes to its end."""

from __future__ import annotations

import functools
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeAlias

import pyarrow as pa
import pyarrow.json as pa_json

from partwright._check import counted, spelled
from partwright.errors import PartwrightError
from partwright.files.formats import Records, in_one, no_column, picked, taken
from partwright.files.lines import Block, LineReader, with_inserted
from partwright.files.tool_text import ASIDE

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from partwright.files.formats import Column, ColumnRequest, Writable


# The blanks allowed around an object; the line feed ends its line.
_BLANKS = " \t\r"
_FILLED = re.compile(rb"[^ \t\r\n][^\n]*+")
_TAKES: dict[pa.DataType, tuple[tuple[type, ...], str]] = {
    pa.string(): ((str,), "text"),
    pa.int64(): ((int,), "a whole number of 64 bits"),
    pa.float32(): ((Decimal, float, int), "a number"),
    pa.float64(): ((Decimal, float, int), "a number"),
    pa.bool_(): ((bool,), "true or false"),
}
# The most rows of a pipe that may wait (it has no size); of a file, all may.
_MOST_WAITING = 1 << 30
_INT64 = range(-(2**63), 2**63)
_INT64_DIGITS = 100
_SHOWN = 100


_Span: TypeAlias = tuple[int, int]


class JsonRecords(Records):
    """A file of JSON lines; see `partwright.files.formats.Records`.

    A member that an object lacks is null. A requested member must not be there twice. A name with dots that no object
    has is the path to a nested member.

    Args:
        path: The file's name.
        file: Its lines.
        size: Its size; None if it is unknown.
        what: What errors call a line: `object` if the lines were made from another layout.
        read_as: What the lines were made from.
    """

    format = "jsonl"
    is_text = True

    def __init__(
        self, path: str, file: BinaryIO, size: int | None, what: str = "line", read_as: str | None = None
    ) -> None:
        super().__init__(file)
        self._path = path
        self.read_as = read_as
        self._what = what
        self._lines = LineReader(path, file, size)
        # The members of the first object, and the requested names that some object had.
        self._first: list[str] | None = None
        self._seen: set[str] = set()

    @property
    def done(self) -> float | None:
        """See `Records`."""
        return self._lines.done

    def read(self, requests: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        for block in self._lines.blocks():
            yield self._columns(block, self._objects(block), requests)
        self._refuse_unseen(requests)

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        types_by_name: dict[str, pa.DataType] = {}
        for block in self._lines.blocks():
            for line, text in _numbered(block, self._objects(block)):
                for name, value in _read_members(self._path, line, text, self._what):
                    types_by_name[name] = _both(types_by_name.get(name, pa.null()), _type_of(value))
            yield types_by_name

    def extend(
        self, key: ColumnRequest, name: str, computed: Callable[[Column], Column], sink: Writable
    ) -> None:
        """See `Records`."""
        member = f",{json.dumps(name, ensure_ascii=False)}:".encode()
        mark = True
        # A key that no object has is a typing mistake, which only the end of the file shows: until then nobody may read
        # a row.
        with Spool(sink) as out:
            for block in self._lines.blocks():
                objects = self._objects(block)
                (keys,) = self._columns(block, objects, [key], name)
                partitions = in_one(computed(keys)).to_pylist()
                member_of = {
                    each: member + (b"null" if each is None else b"%d" % each) for each in set(partitions)
                }
                members = [member_of[each] for each in partitions]
                for place, (start, end) in enumerate(objects):
                    # The first member has no comma before it.
                    if block.text[start + 1 : end - 1].isspace() or end - start == len("{}"):
                        members[place] = members[place][1:]
                if key.name in self._seen:
                    out.go_on()
                out.write(self._lines.mark if mark else b"")
                out.write(with_inserted(block.text, (end - 1 for _, end in objects), members))
                mark = False
                if self.done is None and out.bytes > _MOST_WAITING:
                    raise PartwrightError(
                        f"no object in the first {_MOST_WAITING >> 20:,} MiB of {self._path!r} has a member "
                        f"{key.name!r}, and no row is written before one that has: save it to a file, of which all "
                        "may wait",
                        path=self._path,
                    )
            self._refuse_unseen([key])

    def _objects(self, block: Block) -> list[_Span]:
        """Where the objects of a block are, one in each line that is not blank."""
        whole = block.text.rstrip(b"\n")
        if whole.startswith(b"{") and whole.endswith(b"}") and whole.count(b"}\n{") == whole.count(b"\n"):
            # Nearly always: no line is blank, or has blanks around its object.
            return [line.span() for line in _FILLED.finditer(whole)]
        objects = []
        for found in _FILLED.finditer(block.text):
            text = found[0].rstrip(_BLANKS.encode())
            if text.startswith(b"% ") and ASIDE.match(text.decode()):
                continue
            if not (text.startswith(b"{") and text.endswith(b"}")):
                _read_members(self._path, block.line_at(found.start()), text.decode(), self._what)
            objects.append((found.start(), found.start() + len(text)))
        return objects

    def _columns(
        self,
        block: Block,
        objects: Sequence[_Span],
        requests: Sequence[ColumnRequest],
        new: str | None = None,
    ) -> tuple[Column, ...]:
        """The requested members of a block's objects; `new` is a name that none of them may have."""
        if self._first is None and objects:
            line, text = next(_numbered(block, objects))
            self._first = list(dict(_read_members(self._path, line, text, self._what)))
        if new is None or not _may_have(block.text, new):
            ways = [way for column in requests if (way := _way(block, column.name)) is not None]
            table = self._parsed(block, requests, ways) if len(ways) == len(requests) else None
            if table is not None and table.num_rows == len(objects):
                columns = [picked(self._path, in_one(table[way[0]]), way[1:], way[0]) for way in ways]
                if self._known(block, requests, ways, columns):
                    return tuple(columns)
        return self._one_by_one(block, objects, requests, new)

    def _known(
        self,
        block: Block,
        requests: Sequence[ColumnRequest],
        ways: Sequence[Sequence[str]],
        columns: Sequence[pa.Array],
    ) -> bool:
        """For each member, whether some object had it; if all its values are null, each object must be looked at."""
        filled = zip(requests, columns, strict=True)
        self._seen.update(column.name for column, values in filled if values.null_count < len(values))
        return not any(
            column.name not in self._seen and _may_have(block.text, way[-1])
            for column, way in zip(requests, ways, strict=True)
        )

    @staticmethod
    def _parsed(
        block: Block, requests: Sequence[ColumnRequest], ways: Sequence[Sequence[str]]
    ) -> pa.Table | None:
        """Read by pyarrow, which looks at nothing else in an object; None if it refuses."""
        if len({way[0] for way in ways}) < len({tuple(way) for way in ways}):
            # A member twice in one object: looking at each object finds it.
            return None
        schema = pa.schema([_nested(way, column.type) for way, column in zip(ways, requests, strict=True)])
        try:
            return pa_json.read_json(
                pa.BufferReader(block.text),
                pa_json.ReadOptions(use_threads=False, block_size=len(block.text) + 1),
                pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
            )
        except pa.ArrowInvalid:
            # Whatever the problem is, looking at each object finds it, or finds that there is none.
            return None

    def _one_by_one(
        self, block: Block, objects: Sequence[_Span], requests: Sequence[ColumnRequest], new: str | None
    ) -> tuple[Column, ...]:
        values: list[list[object]] = [[] for _ in requests]
        for line, text in _numbered(block, objects):
            members = self._checked(text, line, requests, new)
            for column, column_values in zip(requests, values, strict=True):
                column_values.append(self._value(self._member(members, column.name, line), column, line))
        return tuple(
            _lenient(column_values) if column.lenient else pa.array(column_values, column.type)
            for column, column_values in zip(requests, values, strict=True)
        )

    def _checked(
        self, text: str, line: int, requests: Sequence[ColumnRequest], new: str | None
    ) -> dict[str, object]:
        """The members of an object; refuses one that has a requested member twice, or the new one."""
        members = _read_members(self._path, line, text, self._what)
        names = [name for name, _ in members]
        if new in names:
            raise taken(self._path, str(new), where=f"{self._what} {line} of ")
        for column in requests:
            if names.count(column.name) > 1:
                raise PartwrightError(
                    f"{self._what} {line} of {self._path!r} has {counted(names.count(column.name), 'member')} named "
                    f"{column.name!r}: it is unclear which one is meant",
                    path=self._path,
                )
        self._seen.update(column.name for column in requests if column.name in names)
        return dict(members)

    def _member(self, members: dict[str, object], name: str, line: int) -> object:
        """A member by its name or its path; null if there is none."""
        if name in members or "." not in name:
            return members.get(name)
        value: object = members
        for part in name.split("."):
            if isinstance(value, _Members):
                if sum(each == part for each, _ in value) > 1:
                    raise PartwrightError(
                        f"{self._what} {line} of {self._path!r} has several members named {part!r} in one object: "
                        "it is unclear which one is meant",
                        path=self._path,
                    )
                value = dict(value)
            if not isinstance(value, dict) or part not in value:
                return None
            value = value[part]
        self._seen.add(name)
        return value

    def _value(self, value: Any, column: ColumnRequest, line: int) -> object:
        if column.lenient:
            return value
        kinds, what = _TAKES[column.type]
        fits = isinstance(value, kinds) and isinstance(value, bool) == (bool in kinds)
        if value is None or (fits and _storable(value, column.type)):
            return _rounded(value, column.type) if pa.types.is_floating(column.type) and fits else value
        if isinstance(value, _Members):
            raise self._object(value, column.name, line)
        hint = (
            ""
            if column.type != pa.string() or isinstance(value, str)
            else f": name the key type of its producer with {spelled('key_type')}"
        )
        raise PartwrightError(
            f"{self._what} {line} of {self._path!r}: {_dumps(value)[:80]} in member {column.name!r} is not "
            f"{what}{hint}",
            path=self._path,
        )

    def _object(self, value: Any, name: str, line: int) -> PartwrightError:
        """The refusal of an object where a key is expected, with the ways to its bytes."""
        inner, path, shown_object = value, name, _dumps(value)
        if "payload" in dict(value):
            inner, path = dict(value)["payload"], f"{name}.payload"
            if len(shown_object) > _SHOWN:
                shown_object = f'{{"schema":...,"payload":{_dumps(inner)}}}'
        members = dict(inner) if isinstance(inner, _Members) else {}
        paths = [f"{path}.{each}" for each, inside in members.items() if not isinstance(inside, list)] or [
            path
        ]
        return PartwrightError(
            f"{self._what} {line} of {self._path!r}: member {name!r} is an object, {shown_object[:_SHOWN]}, and Kafka "
            f"hashes the bytes that a serializer or converter makes of it: {spelled('key_encoding')} json hashes its "
            f"serialized text, and {spelled('key')} {' or '.join(paths[:3])} a field, if a producer writes that alone",
            path=self._path,
            field=name,
        )

    def _refuse_unseen(self, requests: Sequence[ColumnRequest]) -> None:
        """Refuse a member that no object has, as a typing mistake."""
        for column in requests:
            if column.name not in self._seen:
                raise no_column(self._path, self._first or [], column.name, what="member")


def _type_of(value: object) -> pa.DataType:
    """The type of a member's value."""
    if isinstance(value, _Members):
        return pa.struct([(name, _type_of(inside)) for name, inside in dict(value).items()])
    if isinstance(value, list):
        return pa.list_(pa.null())
    return _TYPES.get(type(value), pa.float64())


_TYPES = {type(None): pa.null(), bool: pa.bool_(), int: pa.int64(), str: pa.string()}


def _both(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type of a member that has values of two types: text, if nothing else holds both."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    return other if pa.types.is_struct(one) and pa.types.is_struct(other) else pa.string()


def _way(block: Block, name: str) -> list[str] | None:
    """A member's own name, or its path, if it has dots and no object of the block can have that name.

    None if some object may have the name and another one the path.
    """
    way = name.split(".")
    if len(way) == 1 or not _may_have(block.text, name):
        return way
    return None if _may_have(block.text, way[0]) else [name]


def _nested(way: Sequence[str], type_: pa.DataType) -> pa.Field:
    for name in reversed(way[1:]):
        type_ = pa.struct([(name, type_)])
    return pa.field(way[0], type_)


class _Members(list[tuple[str, object]]):
    """An object as json reads it, with repeated members, also in nested objects."""


def _read_members(path: str, line: int, text: str, what: str = "line") -> list[tuple[str, object]]:
    """The members of the object in a line.

    Raises:
        PartwrightError: The line, which is the error's value, is not an object.
    """
    try:
        members = json.loads(text, object_pairs_hook=_Members, parse_float=_fraction, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        # Some of Python's messages end in it already.
        why = f"{error.msg.removesuffix(' at')} at column {error.colno}"
    except RecursionError as error:
        # Too many brackets.
        why = str(error)
    else:
        if isinstance(members, _Members):
            return members
        why = "not an object"
    if text.lstrip(_BLANKS).startswith("["):
        raise PartwrightError(
            f"{what} {line} of {path!r} is a JSON array among objects: give one object a line, as `jq -c '.[]'` makes "
            "them",
            path=path,
        )
    other = ", or name its format, as in --format csv" if path == "stdin" else ""
    raise PartwrightError(
        f"{what} {line} of {path!r} is not a JSON object ({why}): give one object a line{other}",
        path=path,
        value=text,
    )


@functools.cache
def _escaped(name: str) -> re.Pattern[bytes]:
    """A name with something that other writers than json may write differently."""
    units = name.encode("utf-16-be", "surrogatepass").hex()
    escapes = [f"\\\\u{units[at : at + 4]}" for at in range(0, len(units), 4)] + ["\\\\/"] * ("/" in name)
    return re.compile("|".join(escapes or ["(?!)"]).encode(), re.IGNORECASE)


def _may_have(data: bytes, name: str) -> bool:
    """Whether a member can have the name; False is certain, however its letters are escaped."""
    if json.dumps(name, ensure_ascii=False).encode() in data:
        return True
    return b"\\" in data and _escaped(name).search(data) is not None


def _numbered(block: Block, objects: Sequence[_Span]) -> Iterator[tuple[int, str]]:
    """The objects of a block, each after the number of its line in the file."""
    line, counted_to = block.first, 0
    for start, end in objects:
        line, counted_to = line + block.text.count(b"\n", counted_to, start), start
        yield line, block.text[start:end].decode()


def _whole_number(digits: str) -> int | Decimal:
    """Replace whole numbers of more than 4,300 digits, which Python does not read; none of them is a key."""
    return int(digits) if len(digits) < _INT64_DIGITS else Decimal(digits)


def _fraction(digits: str) -> Decimal | float:
    """The number as written; zero or infinity if its exponent is out of range."""
    try:
        return Decimal(digits)
    except InvalidOperation:
        return float(digits)


def _rounded(value: Decimal | float, type_: pa.DataType) -> pa.Scalar:
    """A number in the type's precision, rounded once."""
    return pa.array([str(value)]).cast(type_)[0]


def _dumps(value: object) -> str:
    """A value as JSON without blanks, with the digits of its numbers: as Jackson and most serializers write it."""
    if isinstance(value, _Members):
        return "{" + ",".join(f"{_dumps(name)}:{_dumps(inside)}" for name, inside in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_dumps, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def _storable(value: Any, type_: pa.DataType) -> bool:
    if type_ == pa.int64():
        return value in _INT64
    # A surrogate without its pair is not a character.
    return type_ != pa.string() or re.search("[\ud800-\udfff]", value) is None


def _lenient(values: list[object]) -> pa.Array:
    """Values of any kind as JSON text; text stays as it is."""
    return pa.array(
        [value if value is None or isinstance(value, str) else _dumps(value) for value in values],
        pa.string(),
    )


_IN_MEMORY = 8 << 20
_BLOCK = 1 << 20


class Spool:
    """Keeps what is written to it until `go_on` is called; from then on everything goes straight to `sink`.

    The file on disk has no name, or loses it with its process, so nothing stays behind however the process ends.

    Args:
        sink: Where the bytes go.

    Attributes:
        bytes: How many bytes wait.

    Examples:
        >>> import io
        >>> sink = io.BytesIO()
        >>> with Spool(sink) as start:
        ...     _ = start.write(b"a")
        ...     before = sink.getvalue()
        ...     start.go_on()
        ...     _ = start.write(b"b")
        >>> before, sink.getvalue()
        (b'', b'ab')
    """

    def __init__(self, sink: Writable) -> None:
        self._sink = sink
        self._kept = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by the block
        self._waits = True
        self.bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closing the file reports a full disk again, which was reported already.
        with suppress(OSError):
            self._kept.close()

    def write(self, data: ReadableBuffer, /) -> int:
        """See `Writable`.

        Raises:
            PartwrightError: The bytes have to wait, and the disk has no room for them.
        """
        if not self._waits:
            return self._sink.write(data)
        try:
            done = self._kept.write(data)
            self._kept.flush()
        except OSError as error:
            where = f" in {tempfile.tempdir!r}" if tempfile.tempdir else ""
            raise PartwrightError(
                f"no row is written before one that has the key, and the temporary file{where} in which they wait "
                f"cannot be written ({error.strerror}): make room, or name another folder with TMPDIR"
            ) from error
        self.bytes += done
        return done

    def go_on(self) -> None:
        """Write the waiting bytes."""
        if self._waits:
            self._waits = False
            self._kept.seek(0)
            shutil.copyfileobj(self._kept, self._sink, _BLOCK)
            self._kept.close()
            self.bytes = 0
