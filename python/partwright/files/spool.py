"""Holds the start of a file until it may be written: in memory, and beyond 8 MiB on disk."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from types import TracebackType

    from _typeshed import ReadableBuffer

    from partwright.files.formats import Writable

__all__ = ["Spool"]

_IN_MEMORY = 8 << 20
_BLOCK = 1 << 20


class Spool:
    """Keeps what is written to it until `go_on` is called; from then on everything goes straight to `sink`.

    The file on disk has no name, or loses it with its process, so nothing stays behind however the process ends.

    Args:
        sink: Where the bytes go.

    Attributes:
        bytes: How many bytes wait.

    Examples:
        >>> import io
        >>> sink = io.BytesIO()
        >>> with Spool(sink) as start:
        ...     _ = start.write(b"a")
        ...     before = sink.getvalue()
        ...     start.go_on()
        ...     _ = start.write(b"b")
        >>> before, sink.getvalue()
        (b'', b'ab')
    """

    def __init__(self, sink: Writable) -> None:
        self._sink = sink
        self._kept = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by the block
        self._waits = True
        self.bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closing the file reports a full disk again, which was reported already.
        with suppress(OSError):
            self._kept.close()

    def write(self, data: ReadableBuffer, /) -> int:
        """See `Writable`.

        Raises:
            PartwrightError: The bytes have to wait, and the disk has no room for them.
        """
        if not self._waits:
            return self._sink.write(data)
        try:
            done = self._kept.write(data)
            self._kept.flush()
        except OSError as error:
            where = f" in {tempfile.tempdir!r}" if tempfile.tempdir else ""
            raise PartwrightError(
                f"no row is written before one that has the key, and the temporary file{where} in which they wait "
                f"cannot be written ({error.strerror}): make room, or name another folder with TMPDIR"
            ) from error
        self.bytes += done
        return done

    def go_on(self) -> None:
        """Write the waiting bytes."""
        if self._waits:
            self._waits = False
            self._kept.seek(0)
            shutil.copyfileobj(self._kept, self._sink, _BLOCK)
            self._kept.close()
            self.bytes = 0
