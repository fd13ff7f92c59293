"""Files of JSON objects, one per line. An object's text stays as written; a new member goes to its end."""

from __future__ import annotations

import functools
import json
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files.formats import Opened, in_one, no_column, picked, taken
from partwright.files.lines import LineReader, text_of
from partwright.files.scalars import FALSE, text
from partwright.files.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from partwright.files.formats import Column, ColumnRequest, Writable
from partwright.files.lines import Block

__all__ = ["JsonRecords"]

# The blanks allowed around an object; the line feed ends its line.
_BLANKS = " \t\r"
_TAKES: dict[pa.DataType, tuple[tuple[type, ...], str]] = {
    pa.string(): ((str,), "text"),
    pa.int64(): ((int,), "a whole number of 64 bits"),
    pa.float32(): ((Decimal, float, int), "a number"),
    pa.float64(): ((Decimal, float, int), "a number"),
    pa.bool_(): ((bool,), "true or false"),
}
_NOTHING, _NULL, _CLOSE = text(""), text("null"), text("}")
_EMPTY = rf"^[{_BLANKS}]*\{{[{_BLANKS}]*\}}$"
# The most rows of a pipe that may wait (it has no size); of a file, all may.
_MOST_WAITING = 1 << 30
_INT64 = range(-(2**63), 2**63)
_INT64_DIGITS = 100


class _Objects(NamedTuple):
    """A block's objects.

    Attributes:
        lines: The lines that have an object, without the blanks after it.
        tails: The blanks after it; None if there are none.
        filled: For each line of the block, whether it has an object; None if all have one.
    """

    lines: pa.Array
    tails: pa.Array | None
    filled: pa.Array | None


class JsonRecords(Opened):
    """A file of JSON lines; see `partwright.files.formats.Records`.

    A member that an object lacks is null. A requested member must not be there twice. A name with dots that no object
    has is the path to a nested member.

    Args:
        path: The file's name.
        file: Its lines.
        size: Its size; None if it is unknown.
        what: What errors call a line: `object` if the lines were made from another layout.
    """

    format = "jsonl"
    is_text = True

    def __init__(self, path: str, file: BinaryIO, size: int | None, what: str = "line") -> None:
        super().__init__(file)
        self._path = path
        self._what = what
        self._lines = LineReader(path, file, size)
        # The members of the first object, and the requested names that some object had.
        self._first: list[str] | None = None
        self._seen: set[str] = set()

    @property
    def done(self) -> float | None:
        """See `Records`."""
        return self._lines.done

    def read(self, wanted: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        for block in self._lines.blocks():
            yield self._columns(block, _objects(block, self._path, self._what), wanted)
        self._refuse_unseen(wanted)

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        found: dict[str, pa.DataType] = {}
        for block in self._lines.blocks():
            objects = _objects(block, self._path, self._what)
            for place, given in enumerate(objects.lines.to_pylist()):
                for name, value in _read_members(self._path, _line(block, objects, place), given, self._what):
                    found[name] = _both(found.get(name, pa.null()), _type_of(value))
            yield found

    def extend(
        self, key: ColumnRequest, name: str, computed: Callable[[Column], Column], sink: Writable
    ) -> None:
        """See `Records`."""
        member = "," + json.dumps(name, ensure_ascii=False) + ":"
        start = True
        # A key that no object has is a typing mistake, which only the end of the file shows: until then nobody may read
        # a row.
        with Spool(sink) as out:
            for block in self._lines.blocks():
                objects = _objects(block, self._path, self._what)
                (keys,) = self._columns(block, objects, [key], name)
                values = in_one(computed(keys)).cast(pa.string())
                is_empty = pc.match_substring_regex(objects.lines, _EMPTY)
                members = pc.if_else(is_empty, text(member[1:]), text(member))
                heads = pc.utf8_slice_codeunits(objects.lines, 0, -1)
                values = pc.fill_null(values, _NULL)
                tails = _NOTHING if objects.tails is None else objects.tails
                new = pc.binary_join_element_wise(heads, members, values, _CLOSE, tails, _NOTHING)
                if objects.filled is not None:
                    new = pc.replace_with_mask(block.lines, objects.filled, new)
                if key.name in self._seen:
                    out.go_on()
                out.write(self._lines.mark if start else b"")
                out.write(text_of(pc.binary_join_element_wise(new, block.ends, _NOTHING)))
                start = False
                if self.done is None and out.bytes > _MOST_WAITING:
                    raise PartwrightError(
                        f"no object in the first {_MOST_WAITING >> 20:,} MiB of {self._path!r} has a member "
                        f"{key.name!r}, and no row is written before one that has: save it to a file, of which all "
                        "may wait",
                        path=self._path,
                    )
            self._refuse_unseen([key])

    def _columns(
        self, block: Block, objects: _Objects, wanted: Sequence[ColumnRequest], new: str | None = None
    ) -> tuple[Column, ...]:
        """The requested members of a block's objects; `new` is a name that none of them may have."""
        if self._first is None and len(objects.lines):
            first = _read_members(self._path, _line(block, objects, 0), objects.lines[0].as_py(), self._what)
            self._first = list(dict(first))
        if new is None or not _may_have(block.text, new):
            ways = [way for column in wanted if (way := _way(block, column.name)) is not None]
            table = self._parsed(block, wanted, ways) if len(ways) == len(wanted) else None
            if table is not None and table.num_rows == len(objects.lines):
                found = [picked(self._path, in_one(table[way[0]]), way[1:], way[0]) for way in ways]
                if self._known(block, wanted, ways, found):
                    return tuple(found)
        return self._one_by_one(block, objects, wanted, new)

    def _known(
        self,
        block: Block,
        wanted: Sequence[ColumnRequest],
        ways: Sequence[Sequence[str]],
        found: Sequence[pa.Array],
    ) -> bool:
        """For each member, whether some object had it; if all its values are null, each object must be looked at."""
        filled = zip(wanted, found, strict=True)
        self._seen.update(column.name for column, values in filled if values.null_count < len(values))
        return not any(
            column.name not in self._seen and _may_have(block.text, way[-1])
            for column, way in zip(wanted, ways, strict=True)
        )

    @staticmethod
    def _parsed(
        block: Block, wanted: Sequence[ColumnRequest], ways: Sequence[Sequence[str]]
    ) -> pa.Table | None:
        """Read by pyarrow, which looks at nothing else in an object; None if it refuses."""
        if len({way[0] for way in ways}) < len({tuple(way) for way in ways}):
            # A member twice in one object: looking at each object finds it.
            return None
        schema = pa.schema([_nested(way, column.type) for way, column in zip(ways, wanted, strict=True)])
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
        self, block: Block, objects: _Objects, wanted: Sequence[ColumnRequest], new: str | None
    ) -> tuple[Column, ...]:
        values: list[list[object]] = [[] for _ in wanted]
        for place, given in enumerate(objects.lines.to_pylist()):
            line = _line(block, objects, place)
            members = self._checked(given, line, wanted, new)
            for column, found in zip(wanted, values, strict=True):
                found.append(self._value(self._member(members, column.name, line), column, line))
        return tuple(
            _lenient(found) if column.lenient else pa.array(found, column.type)
            for column, found in zip(wanted, values, strict=True)
        )

    def _checked(
        self, given: str, line: int, wanted: Sequence[ColumnRequest], new: str | None
    ) -> dict[str, object]:
        """The members of an object; refuses one that has a requested member twice, or the new one."""
        members = _read_members(self._path, line, given, self._what)
        names = [name for name, _ in members]
        if new in names:
            raise taken(self._path, str(new), where=f"{self._what} {line} of ")
        for column in wanted:
            if names.count(column.name) > 1:
                raise PartwrightError(
                    f"{self._what} {line} of {self._path!r} has {counted(names.count(column.name), 'member')} named "
                    f"{column.name!r}: it is unclear which one is meant",
                    path=self._path,
                )
        self._seen.update(column.name for column in wanted if column.name in names)
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
        hint = (
            ""
            if column.type != pa.string() or isinstance(value, str)
            else ": name the --key-type of its producer"
        )
        raise PartwrightError(
            f"{self._what} {line} of {self._path!r}: {_dumps(value)[:80]} in member {column.name!r} is not "
            f"{what}{hint}",
            path=self._path,
        )

    def _refuse_unseen(self, wanted: Sequence[ColumnRequest]) -> None:
        """Refuse a member that no object has, as a typing mistake."""
        for column in wanted:
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


def _read_members(path: str, line: int, given: str, what: str = "line") -> list[tuple[str, object]]:
    """The members of the object in a line.

    Raises:
        PartwrightError: The line, which is the error's value, is not an object.
    """
    try:
        members = json.loads(
            given, object_pairs_hook=_Members, parse_float=_fraction, parse_int=_whole_number
        )
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
    if given.lstrip(_BLANKS).startswith("["):
        raise PartwrightError(
            f"{what} {line} of {path!r} is a JSON array among objects: give one object a line, as `jq -c '.[]'` makes "
            "them",
            path=path,
        )
    other = ", or name its format, as in --format csv" if path == "stdin" else ""
    raise PartwrightError(
        f"{what} {line} of {path!r} is not a JSON object ({why}): give one object a line{other}",
        path=path,
        value=given,
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


def _objects(block: Block, path: str, what: str) -> _Objects:
    lines = block.lines
    if pc.all(pc.starts_with(lines, "{")).as_py() and pc.all(pc.ends_with(lines, "}")).as_py():
        return _Objects(lines, None, None)
    filled = pc.invert(pc.match_substring_regex(lines, f"^[{_BLANKS}]*$"))
    lines = lines.filter(filled)
    found = pc.extract_regex(lines, rf"^(?P<object>[{_BLANKS}]*\{{(?s:.*)\}})(?P<tail>[{_BLANKS}]*)$")
    objects = _Objects(found.field("object"), found.field("tail"), filled)
    if found.null_count:
        place = pc.index(found.is_valid(), FALSE).as_py()
        _read_members(path, _line(block, objects, place), lines[place].as_py(), what)
    return objects


def _line(block: Block, objects: _Objects, place: int) -> int:
    """The line of the file that holds one of a block's objects."""
    if objects.filled is None:
        return block.first + place
    line: int = pc.indices_nonzero(objects.filled)[place].as_py()
    return block.first + line


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
    return (
        str(value)
        if isinstance(value, Decimal)
        else json.dumps(dict(value) if isinstance(value, _Members) else value, default=float)
    )


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
