"""Turn what Spark throws into the one sentence that says what is wrong."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from partwright.errors import PartwrightError
from partwright.kafka.errors import no_right
from partwright.spark import classic
from partwright.spark.errors import first_sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = ["explained_end", "one_sentence", "refused_by_spark"]

_LONGEST = 400


# org.apache.kafka.common.errors.TopicAuthorizationException, which does not say which operation is refused. A producer
# first asks for its own ID, which needs the right to write to some topic (ClusterAuthorizationException).
_DENIED = re.compile(r"Not authorized to access topics: \[(.+)\]|^Cluster authorization failed")


# What org.apache.spark.api.python.BasePythonRunner says when a worker is gone.
_WORKER = "Python worker exited unexpectedly"


@contextlib.contextmanager
def refused_by_spark(what: str, operation: str = "READ", topic: str = "") -> Iterator[None]:
    """Turn what Spark throws in the block into a `PartwrightError` that begins with `what`.

    Args:
        what: What is not done.
        operation: The right on a topic that it needs, by Kafka's name.
        topic: The topic, if Spark does not name it.
    """
    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        raise PartwrightError(f"{what}: {one_sentence(error, operation, topic)}") from error


@contextlib.contextmanager
def explained_end(
    standing: Callable[[], str], interrupted: Sequence[int], log: Path | None
) -> Iterator[None]:
    """Raise one error, with how far a run or stream is, for the many of PySpark's that mean that Spark's Java is gone.

    Args:
        standing: Returns how far it is, in words that follow "it ended", and how to go on.
        interrupted: Has an element once it was interrupted; then it ends on purpose.
        log: Spark's log.
    """
    try:
        yield
    except Exception as error:
        how = None if interrupted else classic.how_java_ended()
        if how is None:
            raise
        where = f"; Spark's log is {str(log)!r}" if log else ""
        raise PartwrightError(f"Spark's Java process {how} {standing()}{where}") from error


def one_sentence(error: BaseException, operation: str = "READ", topic: str = "") -> str:
    """The cause that a person can act on: partwright's own sentence, else Java's innermost one.

    Args:
        error: What Spark throws.
        operation: The right on a topic that is needed, by Kafka's name.
        topic: The topic, if the error does not name it.
    """
    own = first_sentence(error) if isinstance(error, Exception) else None
    if own:
        return own
    # Only Java's text about a foreign error is left.
    text = str(error)
    if _WORKER in text:
        # Whatever Java noticed next, such as a broken pipe, is only the effect.
        return "a Python worker of Spark's ended in the middle of a task: it was killed (out of memory?), or crashed"
    causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.+)$", text, flags=re.MULTILINE)
    line = causes[-1] if causes else text.strip().splitlines()[0]
    line = re.sub(r"\s*SQLSTATE: \w+\s*", "", line).strip()
    if denied := _DENIED.search(line):
        return f"Kafka gives {no_right(operation, 'topic', denied[1] or topic)}"
    return line if len(line) <= _LONGEST else line[: _LONGEST - 4] + " ..."
