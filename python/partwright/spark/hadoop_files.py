"""Small files next to what Spark writes, through Hadoop's FileSystem in Spark's own Java."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.folders import write_file

_CHECKSUM = "org.apache.hadoop.fs.ChecksumException"


class ChecksumError(PartwrightError):
    """A file's content is not what its checksum says."""


class HadoopFolder:
    """A folder of any file system that Spark knows.

    Args:
        spark: A classic session, whose Hadoop configuration has the credentials.
        uri: The folder, such as `s3a://bucket/path`.

    Raises:
        PartwrightError: Spark has no such file system, or it refuses.
    """

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self.uri = uri
        context: Any = spark.sparkContext
        self._java: Any = context._jvm
        with self._refused("be reached"):
            self._path: Any = self._java.org.apache.hadoop.fs.Path(uri)
            self._files: Any = self._path.getFileSystem(context._jsc.hadoopConfiguration())

    def exists(self, name: str | None = None) -> bool:
        """Whether this folder, or an entry of it, exists.

        Raises:
            PartwrightError: The file system refuses.
        """
        with self._refused("be read"):
            return bool(self._files.exists(self._path if name is None else self._at(name)))

    def create(self, name: str, content: bytes) -> None:
        """Write a new file, and create the folder if it does not exist; a reader may see a part of the file.

        Raises:
            PartwrightError: The file exists already, or the file system refuses.
        """
        with self._refused("be written to"):
            self._written(self._at(name), content, replaces=False)

    def create_whole(self, name: str, content: bytes) -> None:
        """The same in one step: even after a power failure, the file has all of its content or does not exist.

        Raises:
            PartwrightError: The file exists already, or the file system refuses.
        """
        with self._refused("be written to"):
            path, part = self._at(name), self._at(f"{name}.part")
            if self._files.exists(path):
                raise FileExistsError(f"{name} exists already")
            if self._files.getUri().getScheme() == "file":
                # Spark's Java runs on this machine, and Hadoop's local file system writes nothing through to the disk.
                file = Path(path.toUri().getPath())
                file.parent.mkdir(parents=True, exist_ok=True)
                write_file(file, content)
                return
            self._written(part, content, replaces=True)
            if not self._files.rename(part, path):
                raise FileExistsError(f"{name} cannot get its name")

    def _written(self, path: Any, content: bytes, *, replaces: bool) -> None:
        stream = self._files.create(path, replaces)
        try:
            stream.write(bytearray(content))
            if stream.hasCapability("hsync"):
                stream.hsync()
        finally:
            stream.close()

    def read(self, name: str) -> bytes:
        """A file's content.

        Raises:
            ChecksumError: It has a checksum next to it, and another content.
            PartwrightError: It cannot be read.
        """
        with self._refused("be read"):
            size = self._files.getFileStatus(self._at(name)).getLen()
            stream = self._files.open(self._at(name))
            try:
                return bytes(self._java.org.apache.commons.io.IOUtils.toByteArray(stream, size))
            finally:
                stream.close()

    def remove(self, name: str | None = None) -> None:
        """Remove this folder with everything in it, or an entry of it.

        Raises:
            PartwrightError: The file system refuses.
        """
        with self._refused("be removed"):
            self._files.delete(self._path if name is None else self._at(name), True)

    def _at(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self._path, name)

    @contextlib.contextmanager
    def _refused(self, what: str) -> Iterator[None]:
        try:
            yield
        except (Py4JError, OSError) as error:
            # An exception of py4j's that is not Java's means that Java is gone.
            java = error.java_exception if isinstance(error, Py4JJavaError) else None
            why = first_line(error if java is None else java.getMessage() or java.getClass().getName())
            is_damaged = java is not None and java.getClass().getName() == _CHECKSUM
            raise (ChecksumError if is_damaged else PartwrightError)(
                f"{self.uri!r} cannot {what} by Spark ({why}): look at its address, and give Spark the jars and "
                "settings of this file system with --conf"
            ) from None
