"""Users' own code: imported by its path, and called so that whatever it raises becomes one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Any, TypeVar

from partwright.errors import PartwrightError

_T = TypeVar("_T")


def imported(what: str, path: str) -> Any:
    """The object at a path: `package.module:Name` or `package.module.Name`.

    Args:
        what: What it should be, for the sentence.
        path: Its path.

    Raises:
        PartwrightError: It is not there, or its module cannot be imported.

    Examples:
        >>> imported("encoder", "json.JSONEncoder").__name__
        'JSONEncoder'
        >>> imported("encoder", "json:Missing")
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: there is no encoder 'json:Missing': the module json has no Missing
    """
    module, colon, name = path.partition(":")
    if not colon:
        module, _, name = path.rpartition(".")
    try:
        return reduce(getattr, name.split("."), import_module(module))
    except AttributeError:
        raise PartwrightError(f"there is no {what} {path!r}: the module {module} has no {name}") from None
    except Exception as error:
        raise PartwrightError(
            f"the {what} {path!r} cannot be imported ({message_of(error)}): name module.Class of a module on Python's "
            "path"
        ) from error


def made(what: str, object_or_path: object) -> Any:
    """An object from itself, its class, or its class's path.

    Args:
        what: What it should be, for the sentence.
        object_or_path: The object, its class, or the path.

    Raises:
        PartwrightError: It cannot be imported, or its class cannot be called without arguments.

    Examples:
        >>> made("encoder", "json.JSONEncoder").skipkeys
        False
    """
    value = imported(what, object_or_path) if isinstance(object_or_path, str) else object_or_path
    return called(f"{value.__qualname__}()", value) if isinstance(value, type) else value


def called(name: str, call: Callable[[], _T]) -> _T:
    """Call users' code, which may raise anything.

    Raises:
        PartwrightError: It raised; the sentence has `name` and the exception.
    """
    try:
        return call()
    except Exception as error:
        raise PartwrightError(f"{name} raised {message_of(error)}") from error


def message_of(error: Exception) -> str:
    """An exception's message for the end of a sentence.

    Examples:
        >>> message_of(KeyError("orders"))
        "KeyError: 'orders'"
    """
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
