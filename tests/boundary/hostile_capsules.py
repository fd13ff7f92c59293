"""A program that gives partwright Arrow capsules which break the C data interface, after a line that names each.

`test_capsules.py` runs it in its own process: if a capsule ends that process, the last line names it. It prints each
refusal as JSON, `{"case", "function", "error", "said"}`, where `error` is null for an answer.
"""

from __future__ import annotations

import ctypes as c
import json
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

import partwright as pw
from partwright import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Schema(c.Structure):
    """Arrow's `ArrowSchema`."""


class Array(c.Structure):
    """Arrow's `ArrowArray`."""


class Stream(c.Structure):
    """Arrow's `ArrowArrayStream`."""


Schema._fields_ = [
    ("format", c.c_char_p),
    ("name", c.c_char_p),
    ("metadata", c.c_char_p),
    ("flags", c.c_int64),
    ("n_children", c.c_int64),
    ("children", c.POINTER(c.POINTER(Schema))),
    ("dictionary", c.POINTER(Schema)),
    ("release", c.c_void_p),
    ("private_data", c.c_void_p),
]
Array._fields_ = [
    ("length", c.c_int64),
    ("null_count", c.c_int64),
    ("offset", c.c_int64),
    ("n_buffers", c.c_int64),
    ("n_children", c.c_int64),
    ("buffers", c.POINTER(c.c_void_p)),
    ("children", c.POINTER(c.POINTER(Array))),
    ("dictionary", c.POINTER(Array)),
    ("release", c.c_void_p),
    ("private_data", c.c_void_p),
]
GetSchema = c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Schema))
GetNext = c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Array))
GetLastError = c.CFUNCTYPE(c.c_void_p, c.POINTER(Stream))
Stream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetLastError),
    ("release", c.c_void_p),
    ("private_data", c.c_void_p),
]

_new = c.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
SCHEMA, ARRAY, STREAM = b"arrow_schema", b"arrow_array", b"arrow_array_stream"
# Everything that C gets lives until the process ends, and nothing broken is released.
KEPT: list[object] = []


def kept(value: Any) -> Any:
    KEPT.append(value)
    return value


def capsule(structure: c.Structure, name: bytes) -> Any:
    return _new(c.addressof(kept(structure)), name, None)


def exported(column: pa.Array) -> tuple[Schema, Array]:
    """The structures of a column, as pyarrow makes them."""
    schema, array = kept(Schema()), kept(Array())
    kept(column)._export_to_c(c.addressof(array), c.addressof(schema))
    return schema, array


class Given:
    """Has an array's capsules, the same each time."""

    def __init__(self, schema: Schema, array: Array) -> None:
        self.capsules: Any = (capsule(schema, SCHEMA), capsule(array, ARRAY))

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.capsules


class Streamed:
    """Has a stream's capsule."""

    def __init__(self, stream: Stream) -> None:
        self.capsule: Any = capsule(stream, STREAM)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.capsule


class Mutation(Protocol):
    """A way to break the structures of a column that was whole."""

    def __call__(self, schema: Schema, array: Array) -> None: ...


TEXT = pa.array(["a", "bc", None])
VIEW = pa.array(["a key that no view can hold", "b"], pa.string_view())
FIXED = pa.array([b"abcd", None], pa.binary(4))
NUMBERS = pa.array([1, 2])
DICTIONARY = pa.array(["a", "b", "a"]).dictionary_encode()
STRUCT = pa.array([{"a": "x", "b": 1}, {"a": "y", "b": 2}])
LIST = pa.array([["a"], ["b"]])
HUGE, LEAST = 2**63 - 1, -(2**63)


def put(structure: str, field: str, value: Any) -> Mutation:
    """Sets one field to another value."""

    def mutate(schema: Schema, array: Array) -> None:
        setattr({"schema": schema, "array": array}[structure], field, kept(value))

    return mutate


def buffer(place: int, address: int | None) -> Mutation:
    def mutate(_: Schema, array: Array) -> None:
        array.buffers[place] = address

    return mutate


def number(place: int, at: int, kind: Any, value: int) -> Mutation:
    """Sets a number in a copy of a buffer."""

    def mutate(_: Schema, array: Array) -> None:
        numbers = kept((kind * (at + 1))())
        c.memmove(numbers, array.buffers[place], c.sizeof(kind) * at)
        numbers[at] = value
        array.buffers[place] = c.addressof(numbers)

    return mutate


def below(field: str, value: Any) -> Mutation:
    """Sets a field of the array's dictionary or its first child."""

    def mutate(_: Schema, array: Array) -> None:
        child = array.dictionary or array.children[0]
        setattr(child.contents, field, value)

    return mutate


def null_child(structure: str) -> Mutation:
    def mutate(schema: Schema, array: Array) -> None:
        given, kind = (schema, Schema) if structure == "schema" else (array, Array)
        pointers = kept((c.POINTER(kind) * given.n_children)())
        given.children = c.cast(pointers, c.POINTER(c.POINTER(kind)))

    return mutate


def own_child(schema: Schema, _: Array) -> None:
    pointers = kept((c.POINTER(Schema) * 1)(c.pointer(schema)))
    schema.children = c.cast(pointers, c.POINTER(c.POINTER(Schema)))


def own_dictionary(schema: Schema, _: Array) -> None:
    schema.dictionary = c.pointer(schema)


def indices_of_text(schema: Schema, array: Array) -> None:
    schema.dictionary, array.dictionary = map(c.pointer, exported(TEXT))


def metadata(*numbers: int) -> Mutation:
    def mutate(schema: Schema, _: Array) -> None:
        text = kept(c.create_string_buffer(b"".join(n.to_bytes(4, "little", signed=True) for n in numbers)))
        c.c_void_p.from_address(c.addressof(schema) + Schema.metadata.offset).value = c.addressof(text)

    return mutate


def both(*mutations: Mutation) -> Mutation:
    def mutate(schema: Schema, array: Array) -> None:
        for each in mutations:
            each(schema, array)

    return mutate


ARRAYS: list[tuple[str, pa.Array, Mutation]] = [
    ("released", TEXT, put("array", "release", None)),
    ("length -1", TEXT, put("array", "length", -1)),
    ("length -2^63", TEXT, put("array", "length", LEAST)),
    ("length 2^63-1", TEXT, put("array", "length", HUGE)),
    ("length 2^63-1 of numbers", NUMBERS, put("array", "length", HUGE)),
    ("length 2^58 of views", VIEW, put("array", "length", 2**58)),
    ("length 2^60 of fixed bytes", FIXED, put("array", "length", 2**60)),
    ("offset -1", TEXT, put("array", "offset", -1)),
    ("offset -2^63", TEXT, put("array", "offset", LEAST)),
    ("offset 2^63-1", TEXT, put("array", "offset", HUGE)),
    ("offset 2^63-1 of a dictionary", DICTIONARY, put("array", "offset", HUGE)),
    ("offset 2^61", TEXT, put("array", "offset", 2**61)),
    ("null count -2", TEXT, put("array", "null_count", -2)),
    ("more nulls than rows", TEXT, put("array", "null_count", 4)),
    ("nulls without a bitmap", TEXT, buffer(0, None)),
    *(
        (f"{count} buffers", TEXT, put("array", "n_buffers", count))
        for count in (LEAST, -1, 0, 1, 2, 4, HUGE)
    ),
    *((f"{count} buffers of fixed bytes", FIXED, put("array", "n_buffers", count)) for count in (0, 1, 3)),
    *((f"{count} buffers of views", VIEW, put("array", "n_buffers", count)) for count in (-1, 0, 1, 2)),
    ("null buffers", TEXT, put("array", "buffers", None)),
    ("null buffers of numbers", NUMBERS, put("array", "buffers", None)),
    ("null offsets", TEXT, buffer(1, None)),
    ("null data", TEXT, buffer(2, None)),
    ("null fixed bytes", FIXED, buffer(1, None)),
    ("null numbers", NUMBERS, buffer(1, None)),
    ("null views", VIEW, buffer(1, None)),
    ("null data of views", VIEW, buffer(2, None)),
    ("null lengths of views", VIEW, buffer(3, None)),
    ("misaligned lengths of views", VIEW, buffer(3, 12345)),
    ("a length of a view's buffer -1", VIEW, number(3, 0, c.c_int64, -1)),
    ("a length of a view's buffer 2^63-1", VIEW, number(3, 0, c.c_int64, HUGE)),
    ("last offset -5", TEXT, number(1, 3, c.c_int32, -5)),
    ("last offset -2^63", TEXT.cast(pa.large_string()), number(1, 3, c.c_int64, LEAST)),
    ("last offset 2^63-1", TEXT.cast(pa.large_string()), number(1, 3, c.c_int64, HUGE)),
    ("a child too many", TEXT, put("array", "n_children", 1)),
    ("children -1", STRUCT, put("array", "n_children", -1)),
    ("a child too few", STRUCT, put("array", "n_children", 1)),
    ("null children", STRUCT, put("array", "children", None)),
    ("a null child", STRUCT, null_child("array")),
    ("a null child of a list", LIST, null_child("array")),
    ("a released child", STRUCT, below("release", None)),
    ("a child with a negative length", STRUCT, below("length", -1)),
    ("a child that is too short", STRUCT, below("length", 1)),
    ("no dictionary", DICTIONARY, put("array", "dictionary", None)),
    ("a dictionary too many", DICTIONARY, put("schema", "dictionary", None)),
    ("a released dictionary", DICTIONARY, below("release", None)),
    ("a dictionary with a negative length", DICTIONARY, below("length", -1)),
    ("a dictionary without buffers", DICTIONARY, below("buffers", None)),
    ("a dictionary with too few buffers", DICTIONARY, below("n_buffers", 2)),
    ("a dictionary's negative offset", DICTIONARY, below("offset", LEAST)),
    ("a released schema", TEXT, put("schema", "release", None)),
    ("no format", TEXT, put("schema", "format", None)),
    ("an empty format", TEXT, put("schema", "format", b"")),
    ("an unknown format", TEXT, put("schema", "format", b"q")),
    ("a format that is no UTF-8", TEXT, put("schema", "format", b"\xff")),
    ("a name that is no UTF-8", TEXT, put("schema", "name", b"\xff")),
    *(
        (f"format {text}", FIXED, put("schema", "format", text.encode()))
        for text in ("w:-1", "w:", "w:9999999999")
    ),
    ("children of a flat schema", TEXT, put("schema", "n_children", 1)),
    ("children -1 of a schema", STRUCT, put("schema", "n_children", -1)),
    ("a list without a child", LIST, both(put("schema", "n_children", 0), put("array", "n_children", 0))),
    ("null children of a schema", STRUCT, put("schema", "children", None)),
    ("a null child of a schema", STRUCT, null_child("schema")),
    ("a schema that is its own child", LIST, own_child),
    ("a schema that is its own dictionary", NUMBERS, own_dictionary),
    ("indices that are text", TEXT, indices_of_text),
    ("-1 pairs of metadata", TEXT, metadata(-1)),
    ("2^31-1 pairs of metadata", TEXT, metadata(2**31 - 1, 0, 0)),
    ("metadata of a length -1", TEXT, metadata(1, 0, -1)),
]


class Copies:
    """A stream of its own making: `answers` has the result of each call, an array or an error number."""

    def __init__(
        self, answers: list[Array | int], message: bytes | None = None, schema_code: int = 0
    ) -> None:
        stream = Stream()

        def get_schema(_: Any, out: Any) -> int:
            if not schema_code:
                made, array = exported(TEXT)
                kept(array)
                c.memmove(out, c.addressof(made), c.sizeof(Schema))
            return schema_code

        def get_next(_: Any, out: Any) -> int:
            answer = answers.pop(0) if answers else Array()
            if isinstance(answer, int):
                return answer
            c.memmove(out, c.addressof(kept(answer)), c.sizeof(Array))
            return 0

        def get_last_error(_: Any) -> int | None:
            return None if message is None else c.addressof(kept(c.create_string_buffer(message)))

        stream.get_schema, stream.get_next = GetSchema(get_schema), GetNext(get_next)
        stream.get_last_error = GetLastError(get_last_error)
        stream.release = c.cast(kept(RELEASE), c.c_void_p).value
        self.stream = kept(stream)


@c.CFUNCTYPE(None, c.POINTER(Stream))
def RELEASE(stream: Any) -> None:  # noqa: N802 - C's
    stream.contents.release = None


def broken_array(column: pa.Array, mutate: Mutation) -> Array:
    schema, array = exported(column)
    mutate(schema, array)
    return array


def without(field: str) -> Streamed:
    stream = Copies([]).stream
    kept(getattr(stream, field))
    c.c_void_p.from_address(c.addressof(stream) + getattr(Stream, field).offset).value = None
    return Streamed(stream)


def copied() -> Streamed:
    """One array and a copy of its structure, with a good one between them."""
    (_, one), (_, other) = exported(TEXT), exported(TEXT)
    return Streamed(Copies([one, other, Array.from_buffer_copy(one)]).stream)


def without_a_schema() -> Streamed:
    stream = Copies([]).stream
    stream.get_schema = GetSchema(lambda *_: 0)
    return Streamed(stream)


def failing_without_words() -> Streamed:
    given = Copies([5])
    c.c_void_p.from_address(c.addressof(given.stream) + Stream.get_last_error.offset).value = None
    return Streamed(given.stream)


def read_once(column: Any) -> Any:
    """An array after somebody has read and released it."""
    pw.murmur2(column)
    return column


def read_by_pyarrow() -> Given:
    """pyarrow takes the array and marks it as released; everything else stays, so pointers lead to freed memory."""
    schema, array = Schema(), Array()
    pa.array(["a key of some length " * 3] * 500)._export_to_c(c.addressof(array), c.addressof(schema))
    pa.Array._import_from_c(c.addressof(array), pa.string())
    assert array.length == 500
    return Given(schema, array)


def returning(*capsules: Any) -> Given:
    given = Given(*exported(TEXT))
    given.capsules = capsules
    return given


def shifted() -> Given:
    schema, array = exported(TEXT)
    moved = kept(c.create_string_buffer(c.sizeof(Array) + 16))
    start = c.addressof(moved) // 8 * 8 + 9
    c.memmove(start, c.addressof(array), c.sizeof(Array))
    return returning(capsule(schema, SCHEMA), _new(start, ARRAY, None))


OTHERS: list[tuple[str, Callable[[], Any]]] = [
    ("capsules that were read before", lambda: read_once(Given(*exported(TEXT)))),
    ("capsules that pyarrow has read", read_by_pyarrow),
    ("capsules the other way round", lambda: returning(*reversed(Given(*exported(TEXT)).capsules))),
    ("capsules of other names", lambda: returning(*(_new(1, b"arrow", None) for _ in range(2)))),
    ("one capsule", lambda: returning(Given(*exported(TEXT)).capsules[0])),
    ("three capsules", lambda: returning(*[Given(*exported(TEXT)).capsules[0]] * 3)),
    ("no capsules", lambda: returning(1, 2)),
    ("a capsule that is not aligned", shifted),
    ("a stream that was read before", lambda: read_once(Streamed(Copies([exported(TEXT)[1]]).stream))),
    ("a stream without get_schema", lambda: without("get_schema")),
    ("a stream without get_next", lambda: without("get_next")),
    ("a stream without release", lambda: without("release")),
    ("a stream whose schema fails", lambda: Streamed(Copies([], b"no schema", 22).stream)),
    ("a stream that fails", lambda: Streamed(Copies([exported(TEXT)[1], 5], b"the disk is gone").stream)),
    ("a stream that fails without a message", lambda: Streamed(Copies([5]).stream)),
    ("a stream that fails without get_last_error", failing_without_words),
    ("a stream without a schema", without_a_schema),
    ("a stream that gives an array twice", copied),
    ("a stream with an offset 2^63-1", lambda: Streamed(
        Copies([exported(TEXT)[1], broken_array(TEXT, put("array", "offset", HUGE))]).stream)),
    ("a stream with a length -1", lambda: Streamed(
        Copies([broken_array(TEXT, put("array", "length", -1))]).stream)),
]  # fmt: skip
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "murmur2": pw.murmur2,
    "partition_for_key": lambda keys: pw.partition_for_key(keys, 12),
    "encode": pw.encode,
    "encode with a key type": lambda keys: pw.encode(keys, "java:long"),
    "key_addresses": _core.key_addresses,
}


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, column, mutate in ARRAYS:

        def made(column: pa.Array = column, mutate: Mutation = mutate) -> Given:
            schema, array = exported(column)
            mutate(schema, array)
            return Given(schema, array)

        yield name, made
    yield from OTHERS


def main() -> None:
    for name, make in cases():
        for function, call in FUNCTIONS.items():
            found: dict[str, Any] = {"case": name, "function": function}
            print(json.dumps(found), flush=True)  # noqa: T201
            try:
                call(make())
            except pw.PartwrightError as error:
                found |= {"error": type(error).__name__, "said": str(error)}
            else:
                found |= {"error": None, "said": ""}
            print(json.dumps(found), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
