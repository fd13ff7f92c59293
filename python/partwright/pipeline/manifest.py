"""The manifest of the files that a run wrote. It is written last, so that nobody mistakes a part for the whole."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["ManifestFile", "ManifestPartition", "PlacementRule", "RunManifest", "manifest_of"]

_VERSION = 1


@dataclass(frozen=True)
class ManifestFile:
    """One file of a partition.

    Attributes:
        path: Its path within the folder that the manifest names.
        rows: How many records it has.
        first_offset: The offset of the first one.
        last_offset: The offset of the last one.
    """

    path: str
    rows: int
    first_offset: int
    last_offset: int


@dataclass(frozen=True)
class ManifestPartition:
    """One partition's files; `partition` is None for the records that the client does not place."""

    partition: int | None
    rows: int
    files: tuple[ManifestFile, ...]


@dataclass(frozen=True)
class PlacementRule:
    """What placed the records; see the same fields of `Manifest`."""

    client: str
    strategy: str | None
    key_type: str | None


@dataclass(frozen=True)
class RunManifest:
    """What a run wrote.

    Attributes:
        run: The run's ID, in hexadecimal.
        topic: What the folders are named after.
        n: The number of partitions for which the records were placed.
        client: The client profile that placed them.
        strategy: What else than the key chose; None if the key alone decided.
        key_type: How keys became bytes; None means text as UTF-8.
        rows: How many records there are.
        partitions: Each partition, also those without records; last, the records in no partition.
    """

    run: str
    topic: str
    n: int
    client: str
    strategy: str | None
    key_type: str | None
    rows: int
    partitions: tuple[ManifestPartition, ...]

    def to_json(self) -> bytes:
        """The manifest's text."""
        return json.dumps({"version": _VERSION, **asdict(self)}, indent=1).encode() + b"\n"

    @classmethod
    def read(cls, content: bytes, name: str) -> RunManifest:
        """Read a manifest.

        Args:
            content: Its file's content.
            name: Its file's name, for the error.

        Raises:
            PartwrightError: It is not a manifest, or a later version of partwright wrote it.
        """
        try:
            told = json.loads(content)
            if told.pop("version") != _VERSION:
                raise PartwrightError(
                    f"{name!r} is the manifest of another version of partwright: use that one"
                )
            partitions = tuple(
                ManifestPartition(
                    each["partition"], each["rows"], tuple(ManifestFile(**file) for file in each["files"])
                )
                for each in told.pop("partitions")
            )
            return cls(**told, partitions=partitions)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PartwrightError(f"{name!r} is not a manifest of partwright ({error}): remove it") from None

    def differences(self, found: Iterable[ManifestFile]) -> list[str]:
        """How the files that are there differ, a clause for each difference.

        Args:
            found: The files that are there.

        Examples:
            >>> file = ManifestFile("t-0/a.parquet", 7, 0, 6)
            >>> there = manifest_of({0: [file]}, "00", "t", 1, PlacementRule("java", None, None))
            >>> there.differences([file]), there.differences([])
            ([], ['t-0/a.parquet is missing'])
        """
        wanted = {file.path: file for each in self.partitions for file in each.files}
        there = {file.path: file for file in found}
        told = [f"{path} is missing" for path in wanted if path not in there]
        told += [f"{path} is not of this run" for path in there if path not in wanted]
        told += [
            f"{path} has {counted(file.rows, 'record')} (offsets {file.first_offset} to {file.last_offset}), and had "
            f"{wanted[path].rows:,} ({wanted[path].first_offset} to {wanted[path].last_offset})"
            for path, file in there.items()
            if path in wanted and wanted[path] != file
        ]
        return told


def manifest_of(
    files: Mapping[int | None, Iterable[ManifestFile]],
    run: str,
    topic: str,
    n: int,
    rule: PlacementRule,
) -> RunManifest:
    """The manifest of these files, by partition; see `Manifest`."""
    numbers: list[int | None] = [*range(n), *([None] if None in files else [])]
    partitions = []
    for number in numbers:
        own = tuple(sorted(files.get(number, ()), key=lambda file: file.first_offset))
        partitions.append(ManifestPartition(number, sum(file.rows for file in own), own))
    rows = sum(each.rows for each in partitions)
    return RunManifest(run, topic, n, **asdict(rule), rows=rows, partitions=tuple(partitions))
