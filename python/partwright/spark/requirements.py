"""Check that PySpark fits `partwright.spark`, before anything imports it."""

from __future__ import annotations

import os
import re
import sys
import warnings
from importlib.util import find_spec
from typing import Any

from partwright.errors import MissingExtraError, PartwrightError

MINIMUM = (3, 5)
TESTED = ((3, 5), (4, 0), (4, 1), (4, 2), (4, 3))
"""The minor versions that the tests run on."""

# The first version that does not need distutils, which Python 3.12 has removed.
_WITHOUT_DISTUTILS = (4, 0)
_INSTALL = "pip install 'partwright[spark]'"
_NEEDS = f"partwright.spark needs PySpark {'.'.join(map(str, MINIMUM))} or later"


def require_pyspark() -> None:
    """Refuse a PySpark that is absent or too old, and warn of one that is newer than the tested versions.

    Raises:
        MissingExtraError: In one sentence, with what to install and the version found.
    """
    try:
        import pyspark  # noqa: PLC0415 - whether this fails is the question
    except ImportError as error:
        raise MissingExtraError(f"{_NEEDS}: {_INSTALL}") from error
    version = pyspark_version()
    if version < MINIMUM:
        raise MissingExtraError(f"{_NEEDS}, and PySpark {pyspark.__version__} is installed: {_INSTALL}")
    if version < _WITHOUT_DISTUTILS and sys.version_info >= (3, 12) and find_spec("distutils") is None:
        raise MissingExtraError(
            f"PySpark {pyspark.__version__} imports distutils, which this Python has no more: pip install setuptools, "
            "on the executors too"
        )
    if version > TESTED[-1]:
        tested = ", ".join(".".join(map(str, each)) for each in TESTED)
        warnings.warn(
            f"PySpark {pyspark.__version__} is newer than those that partwright was tested with: {tested}",
            stacklevel=2,
        )


def require_pandas() -> None:
    """Refuse to continue without pandas if PySpark (before 4.1) takes Arrow's columns only through it.

    Raises:
        MissingExtraError: In one sentence, with what to install.
    """
    import pyspark  # noqa: PLC0415 - require_pyspark() comes first

    if find_spec("pandas") is None:
        raise MissingExtraError(
            f"PySpark {pyspark.__version__} needs pandas for columns of Python: pip install 'pandas>=2.2,<3', on the "
            "executors too"
        )


def pyspark_version() -> tuple[int, int]:
    """The major and minor version of the installed PySpark; (0, 0) if its version is not a number."""
    import pyspark  # noqa: PLC0415 - require_pyspark() comes first

    found = re.match(r"(\d+)\.(\d+)", pyspark.__version__)
    return (0, 0) if found is None else (int(found[1]), int(found[2]))


def is_remote() -> bool:
    """Whether this process talks to a Spark Connect server."""
    from pyspark.sql.utils import is_remote as remote  # noqa: PLC0415 - require_pyspark() comes first

    return bool(remote())


def is_of_server(spark: object) -> bool:
    """Whether this is a Spark Connect session; in PySpark 3.5 its class is not a subclass of the classic one."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def is_stopped(spark: object) -> bool:
    """Whether a session has ended."""
    session: Any = spark
    return bool(session.is_stopped if is_of_server(spark) else session.sparkContext._jsc is None)


def require_classic() -> None:
    """Refuse to continue if a session of this process cannot be a classic one.

    Raises:
        MissingExtraError: `pyspark-client` is installed in PySpark's place.
        PartwrightError: The environment names a Spark Connect server.
    """
    from pyspark import util  # noqa: PLC0415 - require_pyspark() comes first

    # PySpark 3.5 has no such client.
    is_remote_only = getattr(util, "is_remote_only", None)
    if is_remote_only is not None and is_remote_only():
        raise MissingExtraError(
            f"a Spark session of this process needs all of PySpark, not pyspark-client alone: {_INSTALL}"
        )
    if remote := os.environ.get("SPARK_REMOTE"):
        raise PartwrightError(
            f"SPARK_REMOTE is {remote!r}, but this makes a session without a server: unset it, or make the "
            "session with SparkSession.builder.remote()"
        )
