"""Send the package to executors that do not have it, as an archive that Spark unpacks next to their workers."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.spark.executors.archives import packed
from partwright.spark.executors.diagnosis import TIMEOUT_S, examined
from partwright.spark.executors.replies import is_classic
from partwright.spark.executors.sealed import folder_sent

# What Spark Connect sessions have been sent: a server of Spark 3.5 takes an archive once, and then refuses it silently.
_TAKEN: set[tuple[str, str]] = set()


def ship(spark: SparkSession, *, timeout: float = TIMEOUT_S) -> None:
    """Send the partwright that is installed here to every executor, and check that it runs there.

    The archive lasts as long as the session, reaches executors that start later, and takes precedence over what is
    installed there. It is only the wheel: executors need Python of the driver's minor version, pyarrow, and a system
    for which the wheel was built. If executors already have the wheel, you need not send anything.

    Args:
        spark: A session, classic or of Spark Connect.
        timeout: Seconds that executors have to answer.

    Raises:
        PartwrightError: `spark` is not a session, or was stopped; this Spark takes no archives; partwright is not
            installed from a wheel here; an executor cannot run what was sent, or did not answer in time.

    Examples:
        >>> from partwright import spark as pws
        >>> pws.ship(spark)
        >>> pws.doctor(spark).where("NOT ok").count()
        0
    """
    session: Any = spark
    classic = is_classic(spark)
    archive = f"{packed()}#{folder_sent()}"
    try:
        if classic:
            session.sparkContext.addArchive(archive)
        elif (session.session_id, archive) not in _TAKEN:
            session.addArtifacts(archive, archive=True)
            _TAKEN.add((session.session_id, archive))
    except Exception as error:  # py4j's and gRPC's own, too, which this PySpark may not have
        raise PartwrightError(
            f"this Spark takes no archive ({first_line(error)}): install the wheel of partwright on its "
            "executors instead"
        ) from error
    for row in examined(spark, timeout):
        if not row.ok:
            raise PartwrightError(f"partwright was sent, but {row.where} cannot run it: {row.why}")
