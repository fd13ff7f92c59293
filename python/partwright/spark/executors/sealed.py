"""Functions sent to Spark's workers: they run there, or say in one sentence why they cannot.

A plainly pickled function refers to the partwright modules that it calls. A worker without them fails before any of our
code runs, with a trace of a hundred lines. So the function is sent as bytes, together with a small function that is
sent by value: this one finds partwright, compares its version with the driver's, and unpickles the bytes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, get_type_hints

from pyspark import cloudpickle


def seal(function: Any) -> Callable[..., Any]:
    """Wrap a UDF's function so that it says in one sentence if a worker lacks partwright or has another version of it.

    Args:
        function: What the worker calls, with the annotations by which Spark tells kinds of UDFs apart.

    Returns:
        A callable with the same name, signature and answers. In a worker it is `function` itself, so
        a batch costs the same.
    """
    return _Sealed(function)


def folder_sent() -> str:
    """The folder's name under which `ship` sends this version of partwright."""
    return f"partwright-{version('partwright')}"


def advice() -> str:
    """What to do if a worker lacks this version of partwright."""
    return f"install partwright {version('partwright')} there, or send it with partwright.spark.ship"


class _Sealed:
    """A function that becomes pickled bytes on the way to a worker, and itself again there."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        # Spark reads all of these when it makes a UDF. None is sent, because annotations name pyarrow.
        self.__name__ = function.__name__
        self.__annotations__ = get_type_hints(function)
        self.__signature__ = inspect.signature(function)

    def __call__(self, *columns: Any, **named: Any) -> Any:
        return self._function(*columns, **named)

    def __reduce__(self) -> tuple[object, ...]:
        payload = cloudpickle.dumps(self._function)  # type: ignore[no-untyped-call]
        return _opener(), (payload, version("partwright"), folder_sent(), advice())


# The following runs in workers, where partwright may be absent: nested functions are pickled by value, and these call
# nothing of this module.


def finder() -> Callable[[str], tuple[str | None, str | None]]:
    """A function that is sent by value: it finds the worker's partwright."""

    def find(folder: str) -> tuple[str | None, str | None]:
        """The version of partwright here, and why its core cannot be used.

        Args:
            folder: Where `ship` puts the package, which takes precedence over an installed one.

        Returns:
            The version: None if there is no partwright, an empty text if its version is unknown. The reason: None if
            the core can be used.
        """
        import sys
        from importlib import metadata
        from pathlib import Path

        from pyspark import SparkFiles

        # Spark unpacks an archive into the first of these, and Connect into the other one.
        for root in (SparkFiles.getRootDirectory(), Path.cwd()):
            path = str(Path(root, folder))
            if path not in sys.path and Path(path).is_dir():
                sys.path.insert(0, path)
                # A reused worker may have imported the installed one.
                for name in [name for name in sys.modules if name.partition(".")[0] == "partwright"]:
                    del sys.modules[name]
        try:
            import partwright
        except ModuleNotFoundError:
            return None, None
        known = vars(partwright)
        # Finding out takes half a millisecond, for each task of a reused worker.
        if "_version_here" not in known:
            try:
                known["_version_here"] = metadata.version("partwright")
            except metadata.PackageNotFoundError:
                # Only a copy of the package's folder.
                known["_version_here"] = ""
        worker_version: str = known["_version_here"]
        try:
            from partwright import _core  # noqa: F401
        except ImportError as error:
            return worker_version, str(error)
        return worker_version, None

    return find


def _opener() -> Callable[[bytes, str, str, str], Any]:
    find = finder()

    def opened(payload: bytes, driver_version: str, folder: str, advice: str) -> Any:
        import gc
        import pickle
        import socket
        import sys
        from importlib import util

        worker_version, broken = find(folder)
        reason = None
        if util.find_spec("pyarrow") is None:
            reason = "has no pyarrow: set PYSPARK_PYTHON to a Python that has it, or install it there"
        elif worker_version is None:
            reason = f"has no partwright: {advice}"
        elif worker_version != driver_version:
            version = worker_version or "of an unknown version"
            reason = f"has partwright {version}, and the driver has {driver_version}: {advice}"
        elif broken is not None:
            reason = (
                f"has a partwright whose core does not load ({broken}): install the wheel for that platform"
            )
        if reason is not None:
            # Its last line looks like the real class's, which is missing here.
            error = type("PartwrightError", (RuntimeError,), {"__module__": "partwright.errors"})
            raise error(
                f"the Python of Spark's workers ({sys.executable} on {socket.gethostname()}) {reason}"
            )
        function = pickle.loads(payload)  # noqa: S301 - made by the driver, as all that a worker runs
        # After each task, PySpark collects garbage among all modules of the worker, which takes 45 ms unless they are
        # frozen. Present garbage must be collected first, or it would stay.
        if not gc.get_freeze_count():
            gc.collect()
            gc.freeze()
        return function

    return opened
