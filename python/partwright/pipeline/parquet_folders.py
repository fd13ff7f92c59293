"""Folders of Parquet files as a target, one folder per partition, with a manifest that is written last.

A folder of this machine gets names as in Kafka's log directories at the end, whoever writes it.
"""

from __future__ import annotations

import json
import shutil
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from partwright._check import counted
from partwright._stored import OtherVersionError, read_stored
from partwright.errors import PartwrightError
from partwright.folders import write_file
from partwright.kafka import topics
from partwright.pipeline.targets import Target, TargetState

if TYPE_CHECKING:
    from partwright.pipeline.settings import PlacementRule

_VERSION = 1
NULL = "__HIVE_DEFAULT_PARTITION__"
"""Spark's name for the partition of nulls in a folder's name."""
UNPLACED = "null"
"""Ours, in a folder of this machine."""
# At most this many files that differ from the manifest are named.
_SHOWN = 3


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
            return read_stored(cls, content, _VERSION)
        except OtherVersionError:
            raise PartwrightError(
                f"{name!r} is the manifest of another version of partwright: use that one"
            ) from None
        except ValueError as error:
            raise PartwrightError(f"{name!r} is not a manifest of partwright ({error}): remove it") from None

    def differences(self, files: Iterable[ManifestFile]) -> list[str]:
        """How the files that are there differ, a clause for each difference.

        Args:
            files: The files that are there.

        Examples:
            >>> from partwright.pipeline.settings import PlacementRule
            >>> file = ManifestFile("t-0/a.parquet", 7, 0, 6)
            >>> there = manifest_of({0: [file]}, "00", "t", 1, PlacementRule("java", None, None))
            >>> there.differences([file]), there.differences([])
            ([], ['t-0/a.parquet is missing'])
        """
        recorded_files = {file.path: file for each in self.partitions for file in each.files}
        present_files = {file.path: file for file in files}
        clauses = [f"{path} is missing" for path in recorded_files if path not in present_files]
        clauses += [f"{path} is not of this run" for path in present_files if path not in recorded_files]
        clauses += [
            f"{path} has {counted(file.rows, 'record')} (offsets {file.first_offset} to {file.last_offset}), and had "
            f"{recorded_files[path].rows:,} ({recorded_files[path].first_offset} to {recorded_files[path].last_offset})"
            for path, file in present_files.items()
            if path in recorded_files and recorded_files[path] != file
        ]
        return clauses


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


@dataclass(frozen=True)
class ParquetFolders(Target):
    """One folder per partition. A file holds `offset`, `key`, `value` and `headers`, ordered by offset.

    Attributes:
        place: A folder of this machine, or the address of one.
        topic: The topic that they are named after.
        rule: What places the records, for the manifest.
        run: The run's ID in hexadecimal, once they are prepared.
        n: The number of partitions, once they are prepared.
        begin: See `Target`.
    """

    place: Path | str
    topic: str
    rule: PlacementRule
    run: str = ""
    n: int = 0
    begin: Mapping[int, int] = field(default_factory=dict)

    making = "make the folder"
    has_place_for_all = True

    def __post_init__(self) -> None:
        topics.check_topic_name(self.topic)

    @abstractmethod
    def _keep(self, manifest: bytes) -> None:
        """Write the manifest, which marks the folder as finished."""

    @abstractmethod
    def _kept(self) -> RunManifest:
        """The manifest as it was written."""

    def _finish(self, files: Mapping[int | None, Iterable[ManifestFile]]) -> None:
        """Mark the folder as finished, once it holds these files."""
        self._keep(manifest_of(files, self.run, self.topic, self.n, self.rule).to_json())

    def _refuse_changed(self, files: Iterable[ManifestFile]) -> None:
        """Refuse to read files that are not those of the manifest.

        Raises:
            PartwrightError: A file is missing, is another, or somebody else's.
        """
        changes = self._kept().differences(files)
        if changes:
            more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
            raise PartwrightError(
                f"{self} is not what its manifest says: {'; '.join(changes[:_SHOWN])}{more}: somebody else changed it"
            )


@dataclass(frozen=True)
class LocalFolders(ParquetFolders):
    """Folders of this machine, `<topic>-<partition>` as in Kafka's own log directories; null keys in `<topic>-null`."""

    @property
    def folder(self) -> Path:
        """The folder that holds them."""
        return Path(self.place).absolute()

    def __str__(self) -> str:
        return f"folder {str(self.folder)!r}"

    def find_state(self) -> TargetState:
        """Refuse a folder that already holds partitions of this topic.

        Raises:
            PartwrightError: It does, or it is not a folder.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise PartwrightError(f"{str(self.folder)!r} is a file: --to parquet:DIR takes a folder")
        partition_folders = self._named()
        if partition_folders:
            end = "" if self._file.exists() else ", which stopped before its manifest was written"
            raise PartwrightError(
                f"{str(self.folder)!r} holds {partition_folders[0].name!r} already, from an earlier run{end}: nothing "
                "was written; take another folder or another --topic, or remove what is there"
            )
        return TargetState()

    def prepare(self, n: int, first: TargetState, run: bytes, *, append: bool) -> Self:
        """See `Target.prepare`; all `n` partitions get their folders as they are written."""
        del first, append
        self.find_state()
        try:
            self._unfinished.mkdir(parents=True)
            self._file.unlink(missing_ok=True)
        except FileExistsError:
            raise PartwrightError(
                f"{str(self._unfinished)!r} is what an earlier run left when it stopped while writing: remove it"
            ) from None
        except OSError as error:
            raise PartwrightError(f"{str(self.folder)!r} cannot be written to: {error.strerror}") from None
        return replace(self, n=n, run=run.hex())

    def written(self) -> Mapping[int, int] | None:
        """See `Target.written`; a write that stopped leaves nothing under a partition's name."""
        shutil.rmtree(self._unfinished, ignore_errors=True)
        if self.run and not self._file.exists():
            # They are this run's: `prepare` found none.
            for folder in self._named():
                shutil.rmtree(folder, ignore_errors=True)
        return {}

    def _name_whole(self) -> None:
        """Give the folders their names, now that they are complete."""
        for partition in (*range(self.n), None):
            written, named = self._written_as(partition), self._named_as(partition)
            if written.exists():
                written.replace(named)
            elif partition is not None:
                named.mkdir()
        shutil.rmtree(self._unfinished)

    def _keep(self, manifest: bytes) -> None:
        write_file(self._file, manifest)

    def _kept(self) -> RunManifest:
        return RunManifest.read(self._file.read_bytes(), str(self._file))

    @property
    def _unfinished(self) -> Path:
        return self.folder / f".{self.topic}.unfinished"

    @property
    def _file(self) -> Path:
        return self.folder / f"_partwright.{self.topic}.json"

    def _written_as(self, partition: int | None) -> Path:
        """A partition's folder while it is written, as Spark names it."""
        return self._unfinished / f"partition={NULL if partition is None else partition}"

    def _named_as(self, partition: int | None) -> Path:
        return self.folder / f"{self.topic}-{UNPLACED if partition is None else partition}"

    def _named(self) -> list[Path]:
        names = (path for path in self.folder.glob(f"{self.topic}-*") if path.is_dir())
        ends = ((path, path.name.removeprefix(f"{self.topic}-")) for path in names)
        return sorted(path for path, end in ends if end.isdecimal() or end == UNPLACED)
