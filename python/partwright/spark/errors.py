"""Find the one sentence in an error from Spark's workers: partwright's own, or why a worker cannot run it."""

from __future__ import annotations

import re

# A worker's error comes through Java as text alone, without its attributes: the last line of a Python traceback,
# whatever Spark's classic and Connect clients put around it. An expression's error comes as `raise_error` words it.
_OURS = re.compile(
    r"^\s*(?:.*(?:Exception[:)]|\[USER_RAISED_EXCEPTION\]) )?partwright\.errors\.\w+: "
    r"(.+?)(?: SQLSTATE: \w+)?$",
    re.MULTILINE,
)
# StaticInvoke names the class that the driver found. An executor that lacks it says so as it compiles generated code,
# or as it interprets the expression.
_ABSENT_CLASS = re.compile(
    r"(?:ClassNotFoundException: |NoClassDefFoundError: |Unknown variable or type \")"
    r"([\w./]+[./](?:MurmurHash2|utils[./]Utils))\b"
)
_WITHOUT = "the Python of Spark's workers has no"
# What Spark and Python say of a worker that cannot run what is sent to it, and what to do about it.
_TROUBLES = (
    (
        re.compile(r"ModuleNotFoundError: No module named '(partwright\b[^']*)'"),
        f"{_WITHOUT} {{0!r}}: install the wheel of partwright there too, or send it with partwright.spark.ship",
    ),
    (
        re.compile(r"ModuleNotFoundError: No module named '(pyarrow|pandas|numpy)\b"),
        f"{_WITHOUT} {{0}}: set PYSPARK_PYTHON to a Python that has it, or install it there",
    ),
    (
        re.compile(r"(?i)\b(pyarrow|pandas) >= ([\d.]+) must be installed; however, it was not found"),
        f"{_WITHOUT} {{0}}: install {{1}} or later there, which partwright.spark.ship does not do",
    ),
    (
        re.compile(
            r"(?i)\b(pyarrow|pandas) >= ([\d.]+) must be installed; however, your version is ([\d.]*\d)"
        ),
        "the Python of Spark's workers has {0} {2}: install {1} or later there",
    ),
    (
        re.compile(r"Python in worker has different version\D+(\d+)\D+(\d+)\D+ in driver\D+(\d+)\D+(\d+)"),
        "Spark's workers run Python {0}.{1}, and the driver {2}.{3}: give them {2}.{3} by PYSPARK_PYTHON",
    ),
    (
        re.compile(r'Cannot run program "([^"]+)"'),
        "Spark's executors have no Python at {0!r}: install one there, or set PYSPARK_PYTHON to one that each has",
    ),
    (
        re.compile(r"No module named '?(pyspark)\b"),
        f"{_WITHOUT} {{0}}: set SPARK_HOME to the same Spark on every executor, or install it there",
    ),
)


def first_sentence(error: BaseException) -> str | None:
    r"""The sentence that partwright raised in a Spark worker or in engine `jvm`, or why an executor cannot run it.

    A row that it names is a row of one Arrow batch, not of the table.

    Args:
        error: What an action on a DataFrame raised, in classic Spark or through Spark Connect.

    Returns:
        The sentence, or None where the error has neither.

    Examples:
        >>> first_sentence(RuntimeError("...\npartwright.errors.PartwrightError: no.\n  at java"))
        'no.'
        >>> first_sentence(RuntimeError("...\nModuleNotFoundError: No module named 'pyarrow'\n  at java"))
        "the Python of Spark's workers has no pyarrow: set PYSPARK_PYTHON to a Python that has it, or install it there"
    """
    return worker_trouble(str(error))


def worker_trouble(text: str) -> str | None:
    """See `first_sentence`."""
    if found := _OURS.search(text):
        return found[1].strip()
    for pattern, sentence in _TROUBLES:
        if found := pattern.search(text):
            return sentence.format(*found.groups())
    if found := _ABSENT_CLASS.search(text):
        name = found[1].replace("/", ".")
        return (
            f"an executor lacks the class {name}, which the driver has: give both the same jars, or use "
            "engine='arrow'"
        )
    return None
