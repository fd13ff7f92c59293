"""The PySpark that `partwright.spark` needs, asked for before anything imports it."""

from __future__ import annotations

import re

from partwright.errors import MissingExtraError

__all__ = ["MINIMUM", "require_full_pyspark", "require_pyspark"]

# The first with `arrow_udf` and `repartitionById`.
MINIMUM = (4, 1)

_INSTALL = "pip install 'partwright[spark]'"
_NEEDS = f"partwright.spark needs PySpark {'.'.join(map(str, MINIMUM))} or later"


def require_pyspark() -> None:
    """Refuse a PySpark that is absent or too old.

    Raises:
        MissingExtraError: In one sentence, with what to install and the version found.
    """
    try:
        import pyspark  # noqa: PLC0415 - whether this fails is the question
    except ImportError as error:
        raise MissingExtraError(f"{_NEEDS}: {_INSTALL}") from error
    found = re.match(r"(\d+)\.(\d+)", pyspark.__version__)
    if found is None or (int(found[1]), int(found[2])) < MINIMUM:
        raise MissingExtraError(f"{_NEEDS}, and PySpark {pyspark.__version__} is installed: {_INSTALL}")


def require_full_pyspark() -> None:
    """Refuse a PySpark that only talks to a Spark Connect server and has no Spark of its own.

    Raises:
        MissingExtraError: `pyspark-client` is installed in PySpark's place.
    """
    from pyspark.util import is_remote_only  # noqa: PLC0415 - require_pyspark() comes first

    if is_remote_only():
        raise MissingExtraError(
            f"a Spark session of this process needs all of PySpark, not pyspark-client alone: {_INSTALL}"
        )
