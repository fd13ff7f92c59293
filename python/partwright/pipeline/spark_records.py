"""Spark reads a source: key bytes, value, headers, and each record's place in the source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as F
from pyspark.sql import types as T

from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.files.delimited import refuse_open_quote
from partwright.files.file_sets import is_remote
from partwright.kafka.address import parse_kafka
from partwright.kafka.marks import MARK, Mark
from partwright.pipeline.settings import ID_BYTES, STRIP_ID
from partwright.pipeline.source import FORMATS
from partwright.pipeline.source_columns import NUMBERS, check_schema, refuse_by_files
from partwright.spark.connector import spark_options, windows_read
from partwright.spark.marks import HEADERS, marked

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from partwright.pipeline.settings import RunSettings, SourceColumns
    from partwright.pipeline.topic_source import Source

# What Spark reads for a quoted empty field, until `_load` makes it the empty string: Spark itself reads "" as null.
_EMPTY = "\ue000empty\ue000"
# Text as it was written: an unquoted empty field is null, "" is the empty string. A row that does not fit the header is
# an error; by default, Spark would turn it into nulls.
_OPTIONS = {
    "csv": {
        "header": "true",
        "inferSchema": "false",
        "multiLine": "true",
        "escape": '"',
        "nullValue": "",
        "emptyValue": _EMPTY,
        "mode": "FAILFAST",
    },
    "json": {"mode": "FAILFAST"},
}


def inspect_source(source: Source, settings: RunSettings) -> Source:
    """Refuse, before Spark starts, what it could not read.

    Returns:
        The source.

    Raises:
        PartwrightError: See `refuse_by_files`; or Spark would take the name of a csv for a pattern.
    """
    path = source.path if source.format == "csv" else None
    if path is not None and Path(path).exists() and re.search(r"[\\{}\[\]*?,]", path):
        raise PartwrightError(
            f"Spark takes the path {path!r} of a csv for a pattern: rename what has one of \\ {{ }} [ ] * ? ,"
        )
    where = settings.source or source.path
    # By options of its own, or by its own way to another file system, Spark may read what we do not.
    is_sparks = is_remote(where or "") and any(name.startswith("spark.hadoop.") for name in settings.configs)
    is_sparks |= "spark.sql.files.ignoreCorruptFiles" in settings.configs
    if not settings.options and not is_sparks:
        refuse_by_files(where, source, settings.columns._replace(key=source.key))
    return source


def spark_path(path: Path) -> str:
    """A path for Spark, with braces, brackets, stars and question marks escaped, which would be patterns."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path.resolve()))


def read_records(spark: SparkSession, source: Source, settings: RunSettings, run: bytes) -> DataFrame:
    """The source's records, lazily, before they are placed.

    Args:
        spark: The session.
        source: What to read.
        settings: They name the key, its type, the value and the limit.
        run: The 8 bytes of the run's ID, which go into each record's header.

    Returns:
        Columns `id` (the key, ready to be hashed), `value` (text or binary), `headers` (as Spark's Kafka sink takes
        them), `file` and `row`, which give the order of the records in their file; and `named` (the record's own
        partition) and `field`, if the settings name them.

    Raises:
        PartwrightError: There is no such column, or its type is none for a value.
    """
    frame = _load(spark, source)
    check_schema(frame.schema, source, settings.columns._replace(key=source.key))
    several = source.format in FORMATS.values() and len(frame.inputFiles()) > 1
    # Rows are numbered before anything can move them: Spark numbers its tasks, and the rows in each, in the order in
    # which it splits the file.
    records = frame.select(
        *_columns(frame, source, settings.columns, has_timestamps=settings.exactly_once),
        *([] if source.format == "kafka" else [F.lit(None).cast(HEADERS).alias("headers")]),
        (F.col("_metadata.file_path") if several else F.lit("")).alias("file"),
        F.monotonically_increasing_id().alias("row"),
        *_for_strategy(settings.partition, settings.field),
    )
    if settings.only_keys:
        records = _of_wanted_keys(records, settings.source_key_type, settings.wanted_keys)
    if settings.limit is not None:
        records = records.orderBy("file", "row").limit(settings.limit)
    return records.withColumn("headers", marked(Mark(MARK, run))) if settings.is_marked else records


def _headers() -> Column:
    """The headers of a topic's records.

    Java puts U+FFFD for each part of a header's name that is not UTF-8, so such a name would be written as another one.
    """
    place = F.concat(F.lit("the record at offset "), "offset", F.lit(" of partition "), "partition")
    sentence = F.concat(
        F.lit("partwright.errors.PartwrightError: "),
        place,
        F.lit(
            " of the source has a header name that is not UTF-8, or has U+FFFD, and Java cannot keep it: correct its "
            "writer, and read only the other records (--since, --until, --only-partitions)"
        ),
    )
    is_odd = F.exists("headers", lambda header: F.contains(header["key"], F.lit("\ufffd")))
    return F.when(is_odd, F.raise_error(sentence)).otherwise(F.col("headers")).alias("headers")


def stream_records(spark: SparkSession, source: Source, settings: RunSettings) -> DataFrame:
    """The source's records as a stream.

    Args:
        spark: The session.
        source: What to read: a topic from its beginning, or a folder whose present files tell the columns.
        settings: They name the key, its type and the value.

    Returns:
        Columns `id`, `value`, `place` and `place_row` (in their order, a key's records are in order), `headers` for a
        topic, and `timestamp` in milliseconds for a writer that keeps it.

    Raises:
        PartwrightError: There is no such column, or its type is none for a value.
    """
    if source.format == "kafka":
        bounds = {"assign", "startingOffsets", "endingOffsets"}
        options = {name: value for name, value in _options(source).items() if name not in bounds}
        topic = str(parse_kafka(source.name)[1])
        reader = spark.readStream.format("kafka").options(**options).option("subscribe", topic)
        frame = reader.option("startingOffsets", "earliest").load()
        place = [F.col("partition").cast("string").alias("place"), F.col("offset").alias("place_row")]
    else:
        schema = _load(spark, source).schema
        reader = spark.readStream.schema(schema).format(source.format).options(**_options(source))
        frame = _without_marks(reader.load(_path(source)), source)
        place = [F.col("_metadata.file_path").alias("place"), F.lit(0).alias("place_row")]
    check_schema(frame.schema, source, settings.columns._replace(key=source.key))
    return frame.select(
        *_columns(frame, source, settings.columns, has_timestamps=settings.exactly_once), *place
    )


def _columns(
    frame: DataFrame, source: Source, columns: SourceColumns, *, has_timestamps: bool
) -> list[Column]:
    """The columns `id` and `value`, of a topic `headers`, and `timestamp` for a writer that keeps it."""
    is_topic = source.format == "kafka"
    return [
        _key(frame, str(source.key), columns.key_type).alias("id"),
        _value(frame, columns.value or ("value" if is_topic else None)).alias("value"),
        *([_headers()] if is_topic else []),
        *(_timestamp(frame, source, columns.timestamp) if has_timestamps else []),
    ]


def _timestamp(frame: DataFrame, source: Source, name: str | None) -> list[Column]:
    """The records' own timestamps in milliseconds, for a writer that keeps them."""
    if name is None:
        return [F.unix_millis("timestamp").alias("timestamp")] if source.format == "kafka" else []
    column = _quoted(name)
    if isinstance(frame.schema[name].dataType, (T.IntegerType, T.LongType)):
        return [column.cast("long").alias("timestamp")]
    return [F.unix_millis(column.cast("timestamp")).alias("timestamp")]


def key_bytes(column: str, frame: DataFrame, key_type: str | None) -> Column:
    """The key's bytes in Kafka; `confluent:strip-id` removes the header for hashing only."""
    if isinstance(frame.schema[column].dataType, (T.StringType, T.BinaryType)) and key_type != "java:uuid":
        return F.col(column).cast("binary")
    return pws.encode(column, key_type)


def _of_wanted_keys(records: DataFrame, key_type: str | None, keys: Iterable[bytes]) -> DataFrame:
    """Only the records of the wanted keys, compared by their bytes."""
    wire = key_bytes("id", records, key_type)
    # Without a schema's ID, as it is hashed.
    wire = F.substring(wire, ID_BYTES + 1, 2**31 - 1) if key_type == STRIP_ID else wire
    # Literals in one expression: each Column would cost a call to Spark.
    literals = ", ".join(f"X'{key.hex()}'" for key in sorted(keys))
    return records.withColumn("wire", wire).where(f"wire IN ({literals})").drop("wire")


def _load(spark: SparkSession, source: Source) -> DataFrame:
    frame = spark.read.format(source.format).options(**_options(source)).load(_path(source))
    if not frame.columns:
        raise PartwrightError(f"{source.name} has no records: it is empty")
    if source.format == "csv":
        _refuse_open_quotes(frame, source)
    return _without_marks(frame, source)


def _options(source: Source) -> dict[str, str]:
    """The options of Spark's reader: those of its format, a topic's windows, and what the user says."""
    own = dict(_OPTIONS.get(source.format, {}))
    if source.config is not None:
        own |= {**spark_options(source.config, reading=True), "includeHeaders": "true"}
    if source.windows is not None:
        own |= windows_read(str(parse_kafka(source.name)[1]), source.windows)
    return own | source.options


def _path(source: Source) -> str | None:
    """What Spark loads: a local path is no pattern."""
    path = source.path
    return spark_path(Path(path)) if path and not is_remote(path) and Path(path).exists() else path


def _without_marks(frame: DataFrame, source: Source) -> DataFrame:
    """Turn the mark of a quoted empty field into the empty string."""
    if _options(source).get("emptyValue") != _EMPTY:
        return frame
    texts = [name for name, kind in frame.dtypes if kind == "string"]
    return frame.withColumns(
        {name: F.when(_quoted(name) == _EMPTY, "").otherwise(_quoted(name)) for name in texts}
    )


# With these options, Spark's reader has other quotes, lines or bytes than `refuse_open_quote`.
_OTHER_QUOTES = {"quote", "escape", "multiline", "encoding", "charset", "comment", "linesep"}


def _refuse_open_quotes(frame: DataFrame, source: Source) -> None:
    """Refuse a local csv that ends inside quotes: Spark reads everything from there on as one field."""
    changed = {name.lower(): value for name, value in source.options.items()}
    delimiter = changed.get("sep", changed.get("delimiter", ",")).replace("\\t", "\t").encode()
    if changed.keys() & _OTHER_QUOTES or len(delimiter) != 1:
        return
    for file in map(urlsplit, frame.inputFiles()):
        if file.scheme == "file":
            refuse_open_quote(Path(unquote(file.path)), delimiter)


def _quoted(name: str) -> Column:
    """A column by its exact name, with dots and backticks."""
    return F.col("`" + name.replace("`", "``") + "`")


def _key(frame: DataFrame, name: str, key_type: str | None) -> Column:
    """The column; under a numeric key type, text is read as the number that it holds."""
    is_number = isinstance(frame.schema[name].dataType, T.StringType) and key_type in NUMBERS
    return _quoted(name).cast(NUMBERS[key_type]) if is_number else _quoted(name)


def _for_strategy(partition: str | None, field: str | None) -> list[Column]:
    """What else than the key a strategy looks at; text in the column of partitions is read as a number."""
    columns = []
    if partition is not None:
        columns.append(_quoted(partition).cast("int").alias("named"))
    if field is not None:
        columns.append(_quoted(field).alias("field"))
    return columns


def _value(frame: DataFrame, name: str | None) -> Column:
    if name is not None:
        return _quoted(name)
    columns = F.struct(*(_quoted(column) for column in frame.columns))
    return F.to_json(columns, {"ignoreNullFields": "false"})
