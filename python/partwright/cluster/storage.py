"""Kafka's names on disk: a partition's folder, the segment files in it, and the topic names that are allowed.

Exact to `LocalLog` and `LogFileUtils` of `org.apache.kafka.storage.internals.log` of kafka-storage 4.4.0. Nothing here
reads a disk: names in, names out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from partwright._check import MOST_LONG, at_least_one, listed, number, shown
from partwright.cluster.placement.manual import java_int
from partwright.cluster.topic_names import check_topic, collisions
from partwright.errors import PartwrightError

__all__ = [
    "Listing",
    "LogDirectory",
    "SegmentFile",
    "check_topic",
    "collisions",
    "log_directories",
    "log_directory",
    "read_directory",
    "read_listing",
    "read_segment_file",
    "segment_file",
    "segment_files",
]

# What a broker keeps in log.dirs next to the partitions; the last ones are folders.
_OWN = {
    ".kafka_cleanshutdown",
    ".lock",
    "bootstrap.checkpoint",
    "cleaner-offset-checkpoint",
    "log-start-offset-checkpoint",
    "meta.properties",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "remote-log-index-cache",
}
_ENDINGS = ("delete", "future", "stray")
_MARKED = re.compile(r"\S+-\S+\.\S+-(?:delete|future|stray)", re.ASCII)

_KINDS = ("log", "index", "timeindex", "txnindex", "snapshot")
_SUFFIXES = ("", "deleted", "cleaned", "swap")
_SEGMENT = re.compile(r"(\d{20})\.([a-z]+)(?:\.([a-z]+))?", re.ASCII)

_State = Literal["log", "delete", "future", "stray"]


class LogDirectory(NamedTuple):
    """A partition's folder in `log.dirs`.

    `state` is `log`, or why it is renamed: `delete` until it is removed, `future` while its replica moves to another
    disk, `stray` when the cluster knows nothing of it. A renamed folder has an ID in its name, usually 32 hex digits:
    that is `id`, which is empty otherwise. In a `delete` or `stray` folder a very long topic name is cut off.
    """

    topic: str
    partition: int
    state: _State = "log"
    id: str = ""


class Listing(NamedTuple):
    """The names in one of `log.dirs`: partitions' folders, Kafka's own files and folders, and everything else.

    A broker does not start if it finds a folder of the last kind.
    """

    logs: tuple[LogDirectory, ...]
    own: tuple[str, ...]
    others: tuple[str, ...]


def log_directory(topic: str, partition: int) -> str:
    """The folder of a partition in `log.dirs`: the topic, a dash, the number (`LocalLog.logDirName`).

    Args:
        topic: Its name.
        partition: 0 to 2147483647.

    Returns:
        The folder's name.  Beyond partition 99999 of a topic of 249 letters it is longer than file systems take.

    Raises:
        PartwrightError: Kafka has no such topic or partition.

    Examples:
        >>> log_directory("firstTopic", 0)
        'firstTopic-0'
    """
    return f"{check_topic(topic)}-{number(partition, 'a partition')}"


def log_directories(topic: str, partitions: int) -> list[str]:
    """The folders of all partitions of a topic: 0 to n less 1.

    Args:
        topic: Its name.
        partitions: How many, 1 to 1000000.

    Returns:
        Their names.

    Raises:
        PartwrightError: As for `log_directory`, or the number is below 1.

    Examples:
        >>> log_directories("firstTopic", 3)
        ['firstTopic-0', 'firstTopic-1', 'firstTopic-2']
    """
    check_topic(topic)
    return [f"{topic}-{partition}" for partition in range(at_least_one(partitions, "partitions"))]


def read_directory(name: str) -> LogDirectory:
    """The partition whose folder this is (`LocalLog.parseTopicPartitionName`): its number follows the last dash.

    Args:
        name: A folder's name, without a path.

    Returns:
        The topic, the partition, and whether it waits to be deleted, is moving, or has strayed.

    Raises:
        PartwrightError: It is not a partition's folder; a broker that finds one in `log.dirs` does not start.

    Examples:
        >>> read_directory("first-topic-2")
        LogDirectory(topic='first-topic', partition=2, state='log', id='')
        >>> read_directory("t-0.8f2a-delete").state
        'delete'
        >>> read_directory("firstTopic_0")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: 'firstTopic_0' is not a partition's folder: it would be <topic>-<partition>
    """
    if not isinstance(name, str):
        raise PartwrightError(f"a folder's name is text, not {shown(name)}")
    ending = name.rpartition("-")[2]
    state, id_, plain = "log", "", name
    if ending in _ENDINGS and "-" in name:
        if not _MARKED.fullmatch(name):
            raise _no_folder(name)
        plain, _, marked = name.rpartition(".")
        state, id_ = ending, marked.removesuffix(f"-{ending}")
    topic, _, digits = plain.rpartition("-")
    partition = java_int(digits)
    if not topic or partition is None or "/" in name:
        raise _no_folder(name)
    return LogDirectory(topic, partition, state, id_)  # type: ignore[arg-type]  # one of the endings


def read_listing(names: Iterable[str]) -> Listing:
    """Sort the names in one of `log.dirs`, as `ls -A` prints them, by kind.

    Args:
        names: Names without a path.

    Returns:
        Partitions' folders, Kafka's other entries (`meta.properties`, checkpoints), and everything else.  The log of
        KRaft's metadata, `__cluster_metadata-0`, is among the folders.

    Raises:
        PartwrightError: A name is not text.

    Examples:
        >>> found = read_listing(["t-0", "meta.properties", "recovery-point-offset-checkpoint", "lost+found"])
        >>> [log.topic for log in found.logs], found.own[0], found.others
        (['t'], 'meta.properties', ('lost+found',))
    """
    logs, own, others = [], [], []
    for name in listed(names, "names"):
        # A checkpoint is first written next to itself.
        if isinstance(name, str) and name.removesuffix(".tmp") in _OWN:
            own.append(name)
            continue
        try:
            logs.append(read_directory(name))
        except PartwrightError:
            if not isinstance(name, str):
                raise
            others.append(name)
    return Listing(tuple(logs), tuple(own), tuple(others))


def _no_folder(name: object) -> PartwrightError:
    return PartwrightError(f"{shown(name)} is not a partition's folder: it would be <topic>-<partition>")


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
    number(base_offset, "base_offset", MOST_LONG)
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
    value: object = name
    found = _SEGMENT.fullmatch(value) if isinstance(value, str) else None
    if (
        found is None
        or found[2] not in _KINDS
        or (found[3] or "") not in _SUFFIXES
        or int(found[1]) > MOST_LONG
    ):
        raise PartwrightError(
            f"{shown(name)} is not a segment's file: those have an offset of 20 digits and .{', .'.join(_KINDS)}"
        )
    return SegmentFile(int(found[1]), found[2], found[3] or "")
