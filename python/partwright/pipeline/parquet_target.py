"""Folders of Parquet files as Spark's committer writes them, and as Spark reads them back.

A folder of this machine gets its names at the end; at any other address nothing is renamed, because an object store
would copy every file for that.
"""

from __future__ import annotations

import contextlib
import re
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.pipeline.parquet_folders import (
    NULL,
    UNPLACED,
    LocalFolders,
    ManifestFile,
    ParquetFolders,
    RunManifest,
)
from partwright.pipeline.settings import KafkaTarget
from partwright.pipeline.spark_records import spark_path
from partwright.pipeline.spark_targets import SparkTarget, SparkTopic
from partwright.pipeline.targets import TargetState
from partwright.spark.hadoop_files import HadoopFolder
from partwright.spark.marks import HEADERS, mark_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from partwright.kafka.topics import NewTopic
    from partwright.pipeline.settings import ParquetTarget, PlacementRule

_SCHEMA = T.StructType(
    [
        T.StructField("offset", T.LongType()),
        T.StructField("key", T.BinaryType()),
        T.StructField("value", T.BinaryType()),
        T.StructField("headers", HEADERS),
    ]
)


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
    return (RemoteFolders if isinstance(to.folder, str) else SparkLocalFolders)(to.folder, topic, rule)


@dataclass(frozen=True)
class SparkFolders(ParquetFolders, SparkTarget):
    """Folders that Spark writes and reads; see `ParquetFolders`."""

    @property
    @abstractmethod
    def _into(self) -> str:
        """Where Spark writes."""

    @abstractmethod
    def _name_whole(self) -> None:
        """Finish the folders that hold what was written."""

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
        self._name_whole()
        self._finish(_files(_read(placed.sparkSession, self._folders())))

    def read(self, spark: SparkSession, *, committed: bool = False) -> DataFrame:
        """See `SparkTarget.read`.

        Raises:
            PartwrightError: The files are not those of the manifest.
        """
        # A folder with a manifest has nothing uncommitted.
        del committed
        records = _read(spark, self._folders())
        self._refuse_changed(file for files in _files(records).values() for file in files)
        return records.select("partition", "offset", "key", "value", mark_of("headers").alias("header"))


def _read(spark: SparkSession, folders: list[str]) -> DataFrame:
    """The records of all files in these folders, each with its partition and its file."""
    name = F.regexp_extract("path", rf"[-=]([0-9]+|{UNPLACED}|{NULL})/[^/]*$", 1)
    return (
        spark.read.schema(_SCHEMA)
        .option("recursiveFileLookup", "true")
        .parquet(*folders)
        .withColumn("path", F.col("_metadata.file_path"))
        .withColumn("partition", F.when(~name.isin(UNPLACED, NULL), name).cast("int"))
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
class SparkLocalFolders(LocalFolders, SparkFolders):
    """Folders of this machine that Spark writes and reads."""

    def open(self, spark: SparkSession, *, in_transactions: bool) -> Self:
        """See `SparkTarget.open`; `find_state` has checked everything."""
        del spark, in_transactions
        return self

    @property
    def _into(self) -> str:
        return str(self._unfinished)

    def _folders(self) -> list[str]:
        return [spark_path(folder) for folder in self._named()]


@dataclass(frozen=True)
class RemoteFolders(SparkFolders):
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

    def _name_whole(self) -> None:
        """They have their names already."""

    def _keep(self, manifest: bytes) -> None:
        self._folder.create_whole(self.MANIFEST, manifest)
        self._folder.remove(self.UNFINISHED)

    def _kept(self) -> RunManifest:
        return RunManifest.read(self._folder.read(self.MANIFEST), f"{self.uri}/{self.MANIFEST}")

    def _folders(self) -> list[str]:
        return [self.uri]
