"""Dataclasses read back, by their annotations, from JSON that a process may have left half or somebody changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

_Kind = TypeVar("_Kind")
# A ledger has thousands of records of one kind.
_hints = cache(get_type_hints)


class OtherVersionError(Exception):
    """It was written by another version, which is the error's argument."""


def read_stored(kind: type[_Kind], content: str | bytes, version: int | None = None) -> _Kind:
    """A dataclass from its fields as JSON, each of its own type; keys of mappings may be whole numbers.

    Args:
        kind: The dataclass. Its annotations are there when the program runs.
        content: The JSON.
        version: What the object has as `version`, besides the fields; None if it has none.

    Raises:
        ValueError: It is damaged: no JSON, a field is missing, unknown or of another type.
        OtherVersionError: It has another version.

    Examples:
        >>> from dataclasses import make_dataclass
        >>> read_stored(make_dataclass("Note", [("records", int)]), '{"version": 2, "records": 7}', 2)
        Note(records=7)
    """
    data = json.loads(content)
    if version is not None:
        if not isinstance(data, dict) or "version" not in data:
            raise ValueError("it has no version")
        if (theirs := data.pop("version")) != version:
            raise OtherVersionError(theirs)
    value: _Kind = _value(kind, data, "it")
    return value


def _value(kind: Any, data: Any, name: str) -> Any:
    """A JSON value as what an annotation says."""
    origin, of = get_origin(kind) or kind, get_args(kind)
    if isinstance(kind, UnionType):
        for each in of:
            with suppress(ValueError):
                return _value(each, data, name)
    elif is_dataclass(origin):
        return _fields(kind, data)
    elif origin in (dict, Mapping) and isinstance(data, dict):
        return {of[0](key): _value(of[1], value, name) for key, value in data.items()}
    elif origin is list and isinstance(data, list) and {*map(type, data)} <= {*of}:
        return data
    elif isinstance(data, list) and origin in (list, tuple):
        kinds = of if origin is tuple and Ellipsis not in of else [of[0]] * len(data)
        if len(kinds) == len(data):
            return origin(_value(each, value, name) for each, value in zip(kinds, data, strict=True))
    elif type(data) is kind:
        return data
    raise ValueError(f"{name!r} is {data!r}")


def _fields(kind: Any, data: Any) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"it holds {type(data).__name__}, not an object")  # noqa: TRY004 - one error for all damage
    hints = _hints(kind)
    for field in fields(kind):
        if field.name not in data and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{field.name!r} is missing")
    if unknown := data.keys() - hints.keys():
        raise ValueError(f"{min(unknown)!r} is unknown")
    return kind(**{name: _value(hints[name], value, name) for name, value in data.items()})
