"""Every check of what callers pass, and how a refused value is shown in a sentence."""

from __future__ import annotations

import json
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeGuard, TypeVar

from partwright.errors import PartwrightError

LEAST_INT = -(2**31)
MOST_INT = 2**31 - 1
LEAST_LONG = -(2**63)
MOST_LONG = 2**63 - 1
MOST_MADE = 1_000_000
"""The most partitions, of all topics together, that we create from mere counts: each takes memory."""
_SHOWN = 8
_REPR = reprlib.Repr()
# As many characters as names of members and most paths have.
_REPR.maxstring = _REPR.maxother = 120
# The options objects that have what is an option of commands.
_OWNERS = {
    **dict.fromkeys(("format", "delimiter", "columns", "key_encoding"), "RecordSource"),
    "time": "Workload",
}
_AS_OPTIONS = ContextVar("_AS_OPTIONS", default=False)
# What people call a function who have not read of it yet.
_OTHER_WORDS = {
    "partition_for_key": "partition partitions partition_of partition_for get_partition partitioner place",
    "fingerprint": "detect detect_client identify guess infer who_wrote which_client",
    "kafka_layout": "repartition repartition_by_key partition_by layout",
    "resize": "repartition add_partitions grow expand scale what_moves",
    "advise": "size sizing capacity plan recommend throughput partition_count how_many_partitions partitions_needed",
    "coordinator_partition": "coordinator offsets_partition",
    "check": "validate verify skew hot_keys heavy_keys",
}
_Options = TypeVar("_Options")
_Name = TypeVar("_Name")

Json: TypeAlias = dict[str, Any]
"""A JSON object, as `json.loads` returns it and `json.dumps` takes it; whoever reads it knows each field's type."""
Fields: TypeAlias = Mapping[str, Any]
"""The fields of a JSON object, or of a table's row, for reading only."""


def refused(value: object, what: str, reason: str, where: str = "") -> PartwrightError:
    """The error for a refused value; its attributes hold the field and the reason as well as its sentence.

    Args:
        value: The value.
        what: The name of the field or argument.
        reason: Why it is refused, as in the sentence.
        where: The beginning of the sentence.

    Examples:
        >>> error = refused(-1, "linger.ms", "is a time, not -1", "event 3: ")
        >>> print(error, error.field, error.value, error.reason, sep=" | ")
        event 3: linger.ms is a time, not -1 | linger.ms | -1 | is a time, not -1
    """
    return PartwrightError(f"{where}{what} {reason}", field=what, value=value, reason=reason)


def whole(value: object, what: str, least: int, most: int, where: str = "") -> int:
    """A whole number within its bounds.

    Raises:
        PartwrightError: The value is not a whole number, or out of bounds.
    """
    return _integer(value, what, range(least, most + 1), f"from {least} to {most}", where)


def optional(value: object, what: str, least: int, most: int, where: str = "") -> int | None:
    """A whole number within its bounds, or None.

    Raises:
        PartwrightError: The value is neither.
    """
    return None if value is None else whole(value, what, least, most, where)


def spelled(parameter: str) -> str:
    """A parameter as a sentence names it: as an option if a command asks, as an argument or an attribute in Python.

    Args:
        parameter: Its name; with `_b` at its end, that of the second of two topics.

    Examples:
        >>> spelled("key"), spelled("key_b"), spelled("format")
        ('key=', 'JoinSide(key=)', 'RecordSource(format=)')
        >>> with spelled_as_options():
        ...     spelled("n"), spelled("key_b")
        ('-n', '--key-b')
    """
    if _AS_OPTIONS.get():
        return "-n" if parameter == "n" else f"--{parameter.strip('_').replace('_', '-')}"
    name = parameter.removesuffix("_b")
    owner = "JoinSide" if name != parameter else _OWNERS.get(name)
    return f"{name}=" if owner is None else f"{owner}({name}=)"


@contextmanager
def spelled_as_options() -> Iterator[None]:
    """During the block, `spelled` writes options of a command."""
    token = _AS_OPTIONS.set(True)
    try:
        yield
    finally:
        _AS_OPTIONS.reset(token)


def options(value: _Options | None, kind: type[_Options], name: str) -> _Options:
    """The options object that a function takes; None stands for its defaults.

    Raises:
        PartwrightError: The value is something else.

    Examples:
        >>> from partwright import Workload
        >>> options({"key": "id"}, Workload, "workload")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: workload is a partwright.Workload(...), not {'key': 'id'}
    """
    if value is None:
        return kind()
    if not isinstance(value, kind):
        import partwright  # noqa: PLC0415 - it imports this module

        package = (
            "partwright" if kind.__name__ in partwright.__all__ else ".".join(kind.__module__.split(".")[:2])
        )
        raise PartwrightError(f"{name} is a {package}.{kind.__name__}(...), not {shown(value)}", value=value)
    return value


def at_least_one(value: object, what: str, highest: int = MOST_MADE) -> int:
    """Check a whole number: at least 1, and at most `most` or the highest partition count."""
    return _integer(value, what, range(1, highest + 1), f", 1 to {highest}")


def bits(value: object, what: str, values: range) -> int:
    """A number of one of Java's types.

    Examples:
        >>> bits(2**31, "the seed", range(LEAST_INT, MOST_INT + 1))
        Traceback (most recent call last):
        partwright.errors.PartwrightError: the seed is a whole number of 32 bits, not 2147483648
    """
    return _integer(value, what, values, f"of {values[-1].bit_length() + 1} bits")


def _integer(value: object, what: str, values: range, bounds: str, where: str = "") -> int:
    number = as_int(value)
    if number is None or number not in values:
        space = "" if bounds.startswith(",") else " "
        raise refused(value, what, f"is a whole number{space}{bounds}, not {shown(value)}", where)
    return number


def as_int(value: object) -> int | None:
    """A whole number of Python's, numpy's or another library's type as an int; None for anything else, also a bool.

    Examples:
        >>> import numpy as np
        >>> as_int(np.int64(6)), as_int(True), as_int(6.0)
        (6, None, None)
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type] # a TypeError is the answer
    except TypeError:
        return None


def refuse_many(count: int, what: str, where: str = "") -> None:
    """Refuse too many partitions before any memory is allocated for them.

    Args:
        count: How many partitions there are in all.
        what: Whose limit that is.
        where: The beginning of the sentence.

    Raises:
        PartwrightError: They are too many.

    Examples:
        >>> refuse_many(2_000_000, "a play")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: the topics have 2000000 partitions together, and a play takes 1000000
    """
    if count > MOST_MADE:
        raise PartwrightError(
            f"{where}the topics have {count} partitions together, and {what} takes {MOST_MADE}"
        )


def object_fields(value: object, what: str, names: Sequence[str], needs: str | None) -> Json:
    """Check an object's fields: only known ones, and the required one if there is one.

    Examples:
        >>> object_fields({"id": 0, "rak": "a"}, "a broker", ["id", "rack"], "id")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a broker has no field 'rak': did you mean 'rack'? There are id and rack
    """
    if not isinstance(value, Mapping):
        having = f" with {needs}" if needs is not None else ""
        raise PartwrightError(f"{what} is an object{having}, not {shown(value)}")
    for name in value:
        if name not in names:
            raise PartwrightError(f"{what} has no field {shown(name)}{_near_or_all(name, names)}", value=name)
    if needs is not None and needs not in value:
        raise PartwrightError(f"{what} has no {needs}: name it")
    return dict(value)


def read_json(text: str | bytes, again: Callable[[], str] = lambda: ": each name once") -> Any:
    """Parse JSON; a repeated name is refused, because `json` would silently keep the last value.

    Args:
        text: The JSON.
        again: The end of the sentence for a name that occurs twice.

    Raises:
        PartwrightError: An object has a name twice.
        ValueError: The text is not JSON, or has a number with more digits than Python reads.

    Examples:
        >>> read_json('{"a": 1, "a": 2}')
        Traceback (most recent call last):
        partwright.errors.PartwrightError: 'a' is there twice in one object: each name once
    """

    def once(pairs: list[tuple[str, object]]) -> Json:
        members = dict(pairs)
        if len(members) < len(pairs):
            raise same_name_twice(_first_repeated(name for name, _ in pairs), then=again())
        return members

    return json.loads(text, object_pairs_hook=once)


def _first_repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def same_name_twice(name: str, where: str = "", then: str = "") -> PartwrightError:
    """The error for an object that has a name twice, whatever it is written in."""
    reason = f"is there twice in one object{then}"
    return PartwrightError(f"{where}{shown(name)} {reason}", field=name, reason=reason)


def listed(value: object, what: str, of: type | None = None, where: str = "") -> tuple[Any, ...]:
    """Return any list as a tuple; if `of` is given, every value must be of that type."""
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, Mapping)):
        raise PartwrightError(f"{where}{what}: a list is needed, not {shown(value)}", field=what, value=value)
    values = tuple(value)
    for each in values:
        if of is not None and not isinstance(each, of):
            raise PartwrightError(
                f"{where}{what}: {shown(each)} is not of type {of.__name__}", field=what, value=each
            )
    return values


def is_topic(name: str) -> bool:
    """Whether a topic is named instead of a file.

    Raises:
        PartwrightError: It is named wrongly.

    Examples:
        >>> is_topic("kafka://127.0.0.1:9092/orders"), is_topic("orders.csv")
        (True, False)
    """
    if name.startswith("kafka://"):
        return True
    if name.lower().startswith("kafka:"):
        # An address with an @ may have a password.
        subject, path = ("this", None) if "@" in name else (shown(name), name)
        raise PartwrightError(f"{subject} is not a topic's address: write kafka://host:port/topic", path=path)
    return False


def hex_key(value: object, where: str = "") -> bytes | None:
    """The bytes of a key, of their hex digits in JSON; None for a null key."""
    if value is None:
        return None
    try:
        return bytes.fromhex(value)  # type: ignore[arg-type]  # a TypeError is one of the refusals
    except (TypeError, ValueError):
        reason = f"a key is bytes in hex, or null, not {shown(value)}"
        raise PartwrightError(f"{where}{reason}", field="key", value=value, reason=reason) from None


def number(value: object, what: str, highest: int = MOST_INT, note: str = "") -> int:
    """A whole number from 0 to the highest one, of Java's `int` as a rule."""
    return _integer(value, what, range(highest + 1), f", 0 to {highest}{note}")


def unknown(name: object, what: str, names: Iterable[str], where: str = "the cluster") -> PartwrightError:
    """The sentence for a name that is not there, with the nearest one.

    Examples:
        >>> print(unknown("ordres", "topic", ["orders", "users"]))
        there is no topic 'ordres' in the cluster: did you mean 'orders'? There are orders and users
    """
    names = list(names)
    if not names:
        return PartwrightError(f"there is no {what} {shown(name)} in {where}: it has none", value=name)
    return PartwrightError(
        f"there is no {what} {shown(name)} in {where}{_near_or_all(name, names)}", field=what, value=name
    )


def there_are(ids: Iterable[int], what: str) -> str:
    """List the known IDs, as the end of a sentence.

    Examples:
        >>> there_are([0, 1, 2], "brokers"), there_are([], "brokers")
        ('there are the brokers 0, 1 and 2', 'there are no brokers')
    """
    names = [str(each) for each in sorted(ids)]
    return f"there are the {what} {enumeration(names)}" if names else f"there are no {what}"


def is_path(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a caller names a file where a table is taken.

    Examples:
        >>> is_path("orders.csv"), is_path({"key": ["a"]})
        (True, False)
    """
    return isinstance(value, (str, os.PathLike))


def shown(value: object) -> str:
    """A value as part of a sentence: cut if it is very long, and only its type if it takes several lines."""
    try:
        text = _REPR.repr(value)
    except ValueError:
        # A number with more digits than Python writes.
        text = "\n"
    return text if "\n" not in text else f"a value of type {type(value).__name__}"


def first_line(error: BaseException) -> str:
    """A foreign library's error message in one line.

    Examples:
        >>> first_line(RuntimeError("no such column")), first_line(RuntimeError())
        ('no such column', 'RuntimeError')
    """
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def counted(count: int, what: str, several: str | None = None) -> str:
    """A count with its noun, and with its verb if that depends on the count: `1 key moves`, `2 keys move`.

    Args:
        count: How many.
        what: The words for one.
        several: The words for several; by default `what` with an s.

    Examples:
        >>> counted(1, "record"), counted(1200, "record"), counted(2, "batch", "batches")
        ('1 record', '1,200 records', '2 batches')
        >>> counted(1, "of 9 keys moves", "of 9 keys move")
        '1 of 9 keys moves'
    """
    return f"{count:,} {what if count == 1 else several or f'{what}s'}"


def span(low: int, high: int, what: str | None = None) -> str:
    """Two ends, or one number if they are the same, with their noun if there is one.

    Examples:
        >>> span(72, 72), span(0, 1200), span(1, 1, "partition"), span(0, 1, "partition")
        ('72', '0 to 1,200', '1 partition', '0 to 1 partition')
    """
    end = f"{high:,}" if what is None else counted(high, what)
    return end if low == high else f"{low:,} to {end}"


def all_of(count: int, what: str, several: str | None = None) -> str:
    """The same for all that there are: `the 1 key`, `all 2 keys`.

    Examples:
        >>> all_of(1, "record is", "records are"), all_of(1200, "record is", "records are")
        ('the 1 record is', 'all 1,200 records are')
    """
    return f"{'the' if count == 1 else 'all'} {counted(count, what, several)}"


def meant(
    name: object,
    names: Iterable[str],
    *,
    most: int = 1,
    least: float = 0.6,
    opening: str = ": ",
    form: Callable[[str], str] = repr,
) -> str:
    """The end of a sentence that asks whether the nearest name was meant, whatever its case; empty if none is near.

    Args:
        name: The given name.
        names: The known names.
        most: How many may have been meant.
        least: How similar they have to be, from 0 to 1.
        opening: How it begins.
        form: How a name is written.

    Examples:
        >>> meant("clasic", ["classic", "consumer"])
        ": did you mean 'classic'?"
        >>> meant("b.size", ["batch.size"], opening="; ", form=str)
        '; did you mean batch.size?'
        >>> meant("CLASSIC", ["classic", "consumer"])
        ": did you mean 'classic'?"
    """
    import difflib  # noqa: PLC0415 - only a wrong name needs it

    if not isinstance(name, str):
        return ""
    folded = {each.casefold(): each for each in names}
    near = [folded[each] for each in difflib.get_close_matches(name.casefold(), folded, most, least)]
    return f"{opening}did you mean {' or '.join(map(form, near))}?" if near else ""


def meant_name(name: str, names: Sequence[str]) -> str:
    """The end of a sentence about a name that a module lacks: which one was meant, or which functions there are.

    Examples:
        >>> meant_name("partition", ["copartition", "partition_for_key"])
        ": did you mean 'partition_for_key'?"
        >>> meant_name("xyz", ["CheckLimits", "check", "resize"])
        ': there are check and resize'
    """
    other = next(
        (each for each, words in _OTHER_WORDS.items() if each in names and name in words.split()), name
    )
    # A class is not what a verb was meant to be.
    functions = [each for each in names if each[0].islower()]
    return meant(other, names) or f": there are {enumeration(functions, len(functions))}"


def no_column_name(parameter: str, value: object, names: Sequence[str]) -> str:
    """The sentence for what is no column's name, and which columns there are.

    Examples:
        >>> no_column_name("key", 12, ["user", "at"])
        'key= is the name of a column, which comes before n, not 12: there are user and at'
    """
    # People write the number of partitions there.
    order = ", which comes before n" if parameter.startswith("key") and as_int(value) is not None else ""
    return f"{spelled(parameter)} is the name of a column{order}, not {shown(value)}{known_columns(names)}"


def known_columns(names: Sequence[str]) -> str:
    """The end of a sentence: which columns there are; empty if none is known."""
    return f": there are {enumeration(names)}" if names else ""


def _near_or_all(name: object, names: Sequence[str]) -> str:
    near = meant(name, names)
    return f"{near} There are {enumeration(names)}" if near else f": there are {enumeration(names)}"


def enumeration(names: Sequence[_Name], most: int = _SHOWN, spelled: Callable[[_Name], str] = str) -> str:
    """Names as part of a sentence, and how many more there are.

    Examples:
        >>> enumeration(["a"]), enumeration(["a", "b", "c"]), enumeration([f"m{place}" for place in range(9)], 3)
        ('a', 'a, b and c', 'm0, m1, m2 and 6 more')
    """
    shown = [*map(spelled, names[:most]), *([f"{len(names) - most:,} more"] if len(names) > most else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
