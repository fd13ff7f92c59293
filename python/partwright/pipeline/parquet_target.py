"""Placed records as folders of Parquet files, one per partition, with a manifest that is written last.

Spark's committer writes. A folder of this machine gets names as in Kafka's log directories at the end; at any other
address nothing is renamed, because an object store would copy every file for that.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from partwright._check import counted
from partwright._stored import OtherVersionError, read_stored
from partwright.errors import PartwrightError
from partwright.folders import write_file
from partwright.kafka import topics
from partwright.pipeline.settings import KafkaTarget, PlacementRule
from partwright.pipeline.spark_records import spark_path
from partwright.pipeline.spark_targets import SparkTarget, SparkTopic
from partwright.pipeline.targets import TargetState
from partwright.spark.hadoop_files import HadoopFolder
from partwright.spark.marks import HEADERS, mark_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka.topics import NewTopic
    from partwright.pipeline.settings import ParquetTarget

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


_SCHEMA = T.StructType(
    [
        T.StructField("offset", T.LongType()),
        T.StructField("key", T.BinaryType()),
        T.StructField("value", T.BinaryType()),
        T.StructField("headers", HEADERS),
    ]
)
# Spark's name for the folder of nulls.
_NULL = "__HIVE_DEFAULT_PARTITION__"
_UNPLACED = "null"
# At most this many files that differ from the manifest are named.
_SHOWN = 3


def target_at(
    to: KafkaTarget | ParquetTarget, topic: str, new_topic: NewTopic, rule: PlacementRule
) -> SparkTarget:
    """The target that the options name.

    Args:
        to: Where the records go.
        topic: The topic, or what the folders of its partitions are named after.
        new_topic: The topic's settings if it has to be created.
        rule: What places the records, for a manifest.
    """
    if isinstance(to, KafkaTarget):
        return SparkTopic(to.config, topic, new_topic)
    return (RemoteFolders if isinstance(to.folder, str) else LocalFolders)(to.folder, topic, rule)


@dataclass(frozen=True)
class ParquetFolders(SparkTarget):
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

    @property
    @abstractmethod
    def _into(self) -> str:
        """Where Spark writes."""

    @abstractmethod
    def _whole(self) -> list[str]:
        """Finish the folders that hold what was written; returns them as Spark takes them."""

    @abstractmethod
    def _keep(self, manifest: bytes) -> None:
        """Write the manifest, which marks the folder as finished."""

    @abstractmethod
    def _kept(self) -> RunManifest:
        """The manifest as it was written."""

    @abstractmethod
    def _folders(self) -> list[str]:
        """The folders that hold records now, as paths for Spark."""

    def write(self, placed: DataFrame) -> None:
        """See `SparkTarget.write`; the manifest of what is there is written last."""
        within = Window.partitionBy("partition").orderBy("file", "row")
        files = placed.withColumn("offset", F.row_number().over(within).cast("long") - 1)
        order = files.sortWithinPartitions("partition", "offset")
        column_names = [
            name for name in ("offset", "key", "value", "headers", "partition") if name in order.columns
        ]
        order.select(*column_names).write.mode("append").partitionBy("partition").parquet(self._into)
        files_there = _files(_read(placed.sparkSession, self._whole()))
        self._keep(manifest_of(files_there, self.run, self.topic, self.n, self.rule).to_json())

    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """See `SparkTarget.read`.

        Raises:
            PartwrightError: The files are not those of the manifest.
        """
        # A folder with a manifest has nothing uncommitted.
        del committed
        records = _read(spark, self._folders())
        changes = self._kept().differences(file for files in _files(records).values() for file in files)
        if changes:
            more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
            raise PartwrightError(
                f"{self} is not what its manifest says: {'; '.join(changes[:_SHOWN])}{more}: somebody else changed it"
            )
        return records.select("partition", "offset", "key", "value", mark_of("headers").alias("header"))


def _read(spark: SparkSession, folders: list[str]) -> DataFrame:
    """The records of all files in these folders, each with its partition and its file."""
    name = F.regexp_extract("path", rf"[-=]([0-9]+|{_UNPLACED}|{_NULL})/[^/]*$", 1)
    return (
        spark.read.schema(_SCHEMA)
        .option("recursiveFileLookup", "true")
        .parquet(*folders)
        .withColumn("path", F.col("_metadata.file_path"))
        .withColumn("partition", F.when(~name.isin(_UNPLACED, _NULL), name).cast("int"))
    )


def _files(records: DataFrame) -> dict[int | None, list[ManifestFile]]:
    """Each file's rows and offsets, by partition; only the offsets are read for this."""
    files: dict[int | None, list[ManifestFile]] = defaultdict(list)
    counted = records.groupBy("partition", "path").agg(
        F.count("*").alias("rows"), F.min("offset").alias("first"), F.max("offset").alias("last")
    )
    for row in counted.collect():
        path = "/".join(row.path.rsplit("/", 2)[1:])
        files[row.partition].append(ManifestFile(path, row.rows, row["first"], row["last"]))
    return files


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

    def open(self, spark: SparkSession, *, in_transactions: bool) -> Self:
        """See `SparkTarget.open`; `find_state` has checked everything."""
        del spark, in_transactions
        return self

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
        return {}

    @property
    def _into(self) -> str:
        return str(self._unfinished)

    def _whole(self) -> list[str]:
        """A folder gets its name only now that it is complete."""
        written = {str(number): f"partition={number}" for number in range(self.n)}
        for name, folder in {**written, _UNPLACED: f"partition={_NULL}"}.items():
            target = self.folder / f"{self.topic}-{name}"
            if (self._unfinished / folder).exists():
                (self._unfinished / folder).replace(target)
            elif name != _UNPLACED:
                target.mkdir()
        shutil.rmtree(self._unfinished)
        return self._folders()

    def _keep(self, manifest: bytes) -> None:
        write_file(self._file, manifest)

    def _kept(self) -> RunManifest:
        return RunManifest.read(self._file.read_bytes(), str(self._file))

    def _folders(self) -> list[str]:
        return [spark_path(folder) for folder in self._named()]

    @property
    def _unfinished(self) -> Path:
        return self.folder / f".{self.topic}.unfinished"

    @property
    def _file(self) -> Path:
        return self.folder / f"_partwright.{self.topic}.json"

    def _named(self) -> list[Path]:
        names = (path for path in self.folder.glob(f"{self.topic}-*") if path.is_dir())
        ends = ((path, path.name.removeprefix(f"{self.topic}-")) for path in names)
        return sorted(path for path, end in ends if end.isdigit() or end == _UNPLACED)


@dataclass(frozen=True)
class RemoteFolders(ParquetFolders):
    """Folders at an address, `<topic>/partition=<partition>`, written in place; null keys in Spark's folder of null."""

    MANIFEST: ClassVar[str] = "_partwright.json"
    # It exists from before the first record until the manifest is written. Spark skips names that begin like this.
    UNFINISHED: ClassVar[str] = "_partwright.unfinished"

    opened: HadoopFolder | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if odd := re.search(r"[\\{}\[\]*?]", str(self.place)):
            raise PartwrightError(
                f"Spark takes the address {self.place!r} for a pattern, because of its {odd[0]}: choose one without"
            )

    @property
    def uri(self) -> str:
        """The address of the folder that holds them."""
        return f"{str(self.place).rstrip('/')}/{self.topic}"

    @property
    def _folder(self) -> HadoopFolder:
        if self.opened is None:
            raise RuntimeError(f"{self} is not open")
        return self.opened

    def __str__(self) -> str:
        return f"folder {self.uri!r}"

    def find_state(self) -> TargetState:
        """The folder is checked once Spark has started: see `open`."""
        return TargetState()

    def open(self, spark: SparkSession, *, in_transactions: bool) -> Self:
        """See `SparkTarget.open`."""
        del in_transactions
        folder = HadoopFolder(spark, self.uri)
        self._refuse_there(folder)
        return replace(self, opened=folder)

    def prepare(self, n: int, first: TargetState, run: bytes, *, append: bool) -> Self:
        """See `Target.prepare`; a marker says that a run writes here."""
        del first, append
        self._refuse_there(self._folder)
        self._folder.create(self.UNFINISHED, f"{run.hex()}\n".encode())
        return replace(self, n=n, run=run.hex())

    def written(self) -> Mapping[int, int] | None:
        """See `Target.written`; without Spark's Java nothing can be removed, and the next run says so."""
        if self.run:
            # If Java is gone or the file system does not answer, the folder stays without a manifest.
            with contextlib.suppress(PartwrightError):
                self._folder.remove()
        return {}

    def _refuse_there(self, folder: HadoopFolder) -> None:
        if not folder.exists():
            return
        if not folder.exists(self.MANIFEST):
            raise PartwrightError(
                f"{self} has no manifest ({self.MANIFEST}): a run stopped while it wrote, or still writes; nothing was "
                "written; remove it, or take another --topic"
            )
        manifest = RunManifest.read(folder.read(self.MANIFEST), f"{self.uri}/{self.MANIFEST}")
        raise PartwrightError(
            f"{self} holds {counted(manifest.rows, 'record')} already, from run {manifest.run}: nothing was written; "
            "take another address or another --topic, or remove what is there"
        )

    @property
    def _into(self) -> str:
        return self.uri

    def _whole(self) -> list[str]:
        return self._folders()

    def _keep(self, manifest: bytes) -> None:
        self._folder.create_whole(self.MANIFEST, manifest)
        self._folder.remove(self.UNFINISHED)

    def _kept(self) -> RunManifest:
        return RunManifest.read(self._folder.read(self.MANIFEST), f"{self.uri}/{self.MANIFEST}")

    def _folders(self) -> list[str]:
        return [self.uri]
