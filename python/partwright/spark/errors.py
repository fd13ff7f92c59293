"""partwright's own sentence in an error that came from Spark's workers."""

from __future__ import annotations

import re

__all__ = ["first_sentence"]

# A worker's error comes through Java as text alone, without its attributes: the last line of a Python traceback,
# whatever Spark's classic and Connect clients put around it. An expression's error comes as `raise_error` words it.
_OURS = re.compile(
    r"^\s*(?:\S*PythonException: |.*RuntimeException: |.*\[USER_RAISED_EXCEPTION\] )?partwright\.errors\.\w+: "
    r"(.+?)(?: SQLSTATE: \w+)?$",
    re.MULTILINE,
)
_ABSENT = re.compile(r"ModuleNotFoundError: No module named '(partwright\b[^']*)'")
# StaticInvoke names the class that the driver found. An executor that lacks it says so as it compiles generated code,
# or as it interprets the expression.
_ABSENT_CLASS = re.compile(
    r"(?:ClassNotFoundException: |NoClassDefFoundError: |Unknown variable or type \")"
    r"([\w./]+[./](?:MurmurHash2|utils[./]Utils))\b"
)


def first_sentence(error: BaseException) -> str | None:
    r"""The sentence that partwright raised in a Spark worker, or in an expression of engine `jvm`.

    A row that it names is a row of one Arrow batch, not of the table.

    Args:
        error: What an action on a DataFrame raised, in classic Spark or through Spark Connect.

    Returns:
        The sentence, or None where the error has none of partwright's.

    Examples:
        >>> first_sentence(RuntimeError("...\npartwright.errors.PartwrightError: no.\n  at java"))
        'no.'
    """
    text = str(error)
    if found := _OURS.search(text):
        return found[1].strip()
    if found := _ABSENT.search(text):
        return f"the Python of Spark's workers has no {found[1]!r}: install the wheel of partwright there too"
    if found := _ABSENT_CLASS.search(text):
        name = found[1].replace("/", ".")
        return (
            f"an executor's class path has no {name} as the driver's has: give both the same jars, or leave engine out "
            "for arrow"
        )
    return None
