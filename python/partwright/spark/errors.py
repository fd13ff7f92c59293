"""partwright's own sentence in an error that came from Spark's workers."""

from __future__ import annotations

import re

__all__ = ["first_sentence"]

# A worker's error comes through Java as text alone, without its attributes: the last line of a Python traceback,
# whatever Spark's classic and Connect clients put around it.
_OURS = re.compile(r"^\s*(?:\S*PythonException: )?partwright\.errors\.\w+: (.+)$", re.MULTILINE)
_ABSENT = re.compile(r"ModuleNotFoundError: No module named '(partwright\b[^']*)'")


def first_sentence(error: BaseException) -> str | None:
    r"""The sentence that partwright raised in a Spark worker.

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
    return None
