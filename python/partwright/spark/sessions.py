"""A classic Spark session whose workers run this same interpreter, and whose noise goes to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyspark.sql import SparkSession

from partwright.spark.requirements import require_classic


def session(
    app_name: str = "partwright",
    master: str = "local[*]",
    kafka: bool = False,
    configs: Mapping[str, object] | None = None,
    log_file: str | os.PathLike[str] | None = None,
) -> SparkSession:
    """A classic Spark session; if one is already running, that one as it is.

    The workers of a new session run your interpreter. Spark alone would take the `python3` on PATH, which does not see
    the partwright of a virtual environment.

    Args:
        app_name: The application's name.
        master: Spark's master.  A local one listens only on the loopback interface.
        kafka: Whether to bring Spark's Kafka connector: four jars, fetched at the first use.
        configs: Spark's own configuration, which overrides what is set here; the connector's jars are added to those in
            `spark.jars`.  It reaches Java in a file that only this user can read, which is removed once Java has
            started: no process has a password in its command line.
        log_file: The file to which Spark's log, and everything else that its Java process and workers print, is
            appended, so that the terminal stays clean.  The first session of a process starts Java, and so decides
            this.

    Returns:
        The session; end it with `.stop()`.

    Raises:
        MissingExtraError: There is no Java 17 or later, or only pyspark-client.
        PartwrightError: Workers would run another interpreter; the running session has no Kafka connector;
            Spark did not start; a jar cannot be had.

    Examples:
        >>> with session(master="local[2]") as spark:  # doctest: +SKIP
        ...     spark.range(3).count()
        3
    """
    require_classic()
    from partwright.spark import classic  # noqa: PLC0415 - pyspark-client has nothing of what it imports

    return classic.start(app_name, master, kafka, configs or {}, log_file)
