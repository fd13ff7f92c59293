"""Build and parse the names of a log's segment files: an offset in 20 digits and the kind of the file.

Exact to `org.apache.kafka.storage.internals.log.LogFileUtils` of kafka-storage 4.4.0.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from partwright._check import number, shown
from partwright.errors import PartwrightError

__all__ = ["SegmentFile", "read_segment_file", "segment_file", "segment_files"]

_KINDS = ("log", "index", "timeindex", "txnindex", "snapshot")
_SUFFIXES = ("", "deleted", "cleaned", "swap")
_SEGMENT = re.compile(r"(\d{20})\.([a-z]+)(?:\.([a-z]+))?", re.ASCII)
_HIGHEST = 2**63 - 1


class SegmentFile(NamedTuple):
    """A file of a segment.

    `kind` is `log`, `index`, `timeindex`, `txnindex` or `snapshot`; the offset of a producer snapshot is the first one
    that it does not cover.  `suffix` is `deleted`, `cleaned`, `swap` or empty.
    """

    base_offset: int
    kind: str
    suffix: str = ""


def segment_file(base_offset: int, kind: str = "log") -> str:
    """The name of a segment's file: its base offset in 20 digits, so that names sort as numbers (`LogFileUtils`).

    Args:
        base_offset: The offset of its first record, 0 to 9223372036854775807; of a snapshot the one after its last.
        kind: `log`, `index`, `timeindex`, `txnindex` or `snapshot`.

    Returns:
        The file's name.

    Raises:
        PartwrightError: The offset is invalid, or the kind does not exist.

    Examples:
        >>> segment_file(368769)
        '00000000000000368769.log'
    """
    number(base_offset, "base_offset", _HIGHEST)
    if kind not in _KINDS:
        raise PartwrightError(f"a segment has no file {shown(kind)}: it has {', '.join(_KINDS)}")
    return f"{base_offset:020}.{kind}"


def segment_files(base_offset: int) -> list[str]:
    """All files that a segment can have; a `txnindex` exists only if a transaction was aborted.

    Args:
        base_offset: The offset of its first record, 0 to 9223372036854775807.

    Returns:
        Their names, the log first.

    Raises:
        PartwrightError: The offset is invalid.

    Examples:
        >>> segment_files(0)[:2]
        ['00000000000000000000.log', '00000000000000000000.index']
    """
    return [segment_file(base_offset, kind) for kind in _KINDS]


def read_segment_file(name: str) -> SegmentFile:
    """The offset and the kind of a segment's file (`LogFileUtils.offsetFromFileName`).

    Args:
        name: A file's name, without a path: 20 digits, a kind, and maybe `deleted`, `cleaned` or `swap`.

    Returns:
        The parsed name.

    Raises:
        PartwrightError: It is not a segment's file; `leader-epoch-checkpoint` and `partition.metadata`, for example,
            are not.

    Examples:
        >>> read_segment_file("00000000000000368769.timeindex.deleted")
        SegmentFile(base_offset=368769, kind='timeindex', suffix='deleted')
    """
    given: object = name
    found = _SEGMENT.fullmatch(given) if isinstance(given, str) else None
    if (
        found is None
        or found[2] not in _KINDS
        or (found[3] or "") not in _SUFFIXES
        or int(found[1]) > _HIGHEST
    ):
        raise PartwrightError(
            f"{shown(name)} is not a segment's file: those have an offset of 20 digits and .{', .'.join(_KINDS)}"
        )
    return SegmentFile(int(found[1]), found[2], found[3] or "")
