"""Where a verb's records come from: a table, files, a topic, or batches.

>>> with RecordSource([{"user": "a"}, {"user": None}]).open({"key": "user"}) as records:
...     [batch["key"].to_pylist() for batch in records.batches()]
[['a', None]]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from partwright._check import (
    Json,
    is_topic,
    known_columns,
    no_column_name,
    options,
    shown,
    spelled,
)
from partwright.answer import Question
from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, open_records, text_type
from partwright.files.formats import Column
from partwright.files.opening import WITH_TEXT
from partwright.kafka.address import parse_topic
from partwright.kafka.bounds import Bounds, TopicPart
from partwright.kafka.connection import KafkaConfigLike, configured
from partwright.kafka.records import TopicRecords
from partwright.keys.key_columns import column_names, record_columns
from partwright.keys.key_text import KEY_ENCODINGS, decoded, key_request

if TYPE_CHECKING:
    from partwright.files import Records

Watch: TypeAlias = "Callable[[str], AbstractContextManager[Callable[[int, float | None], bool | None]]]"
"""Given a name, a context manager around the reading, of a function that is called again and again with the number of
records and their share of the whole. The reading of a topic ends once it returns True."""


def _unwatched(_name: str) -> AbstractContextManager[Callable[[int, float | None], None]]:
    return nullcontext(lambda _records, _done: None)


@dataclass(frozen=True)
class RecordSource:
    """Records, and how to read them where they do not say it themselves.

    Attributes:
        records: A table: Arrow's (also a batch or a stream), a DataFrame of pandas or polars, a DuckDB relation, a dict
            of columns or a list of dicts; a list or an iterator of tables; the name of a file, a folder or a pattern
            such as `day=*/*.csv`, or several of these; or the address of a topic, `kafka://host:port/topic`.
        format: The format of files whose names do not tell it: csv, tsv, json, parquet, arrow, avro or text.
        delimiter: The character between two fields of csv; in text also several.
        part: Which part of a topic is read; by default all that is there when the reading begins.
        kafka_config: The client configuration for a topic: `host:port`, a dict of settings by Kafka's or by
            librdkafka's names, or the path of a properties file.
        watch: Sees how far the reading is, and may end it.
        columns: The columns of csv or text without a header, as a list or with commas between them; or a format of
            `kcat -f`, with `%p` and `%k`.
        key_encoding: How a file's text is a key's bytes: base64, hex, or json for an object's serialized text.
        say: Gets a sentence about what a text was taken for.

    Examples:
        >>> import partwright as pw
        >>> pw.check(RecordSource({"user": ["a", "b"]}), "user", 12).rows
        2
    """

    records: Any
    format: str | None = None
    delimiter: str | None = None
    part: TopicPart | Bounds | None = None
    kafka_config: KafkaConfigLike = None
    watch: Watch = _unwatched
    columns: str | Sequence[str] | None = None
    key_encoding: str | None = None
    say: Callable[[str], object] | None = None

    @classmethod
    def of(cls, records: object, kafka_config: KafkaConfigLike = None) -> RecordSource:
        """The source that a function is given, or that of the records that it is given.

        Raises:
            PartwrightError: A topic is named wrongly, or not alone, or settings are for another kind of records.
        """
        source = records if isinstance(records, cls) else cls(records, kafka_config=kafka_config)
        if source is records and kafka_config is not None:
            raise PartwrightError("the RecordSource has its own kafka_config=: leave the other one out")
        source.refuse_settings_of_others()
        return source

    @property
    def files(self) -> list[str]:
        """The names of the files, or the address of the topic; empty for tables."""
        several = isinstance(self.records, (list, tuple))
        names = list(self.records) if several else [self.records]
        if not all(isinstance(name, (str, os.PathLike)) for name in names):
            return []
        return [os.fsdecode(name) for name in names]

    @property
    def name(self) -> str | None:
        """What people call it; None for tables."""
        files = self.files
        if not files:
            return None
        return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"

    @property
    def is_topic(self) -> bool:
        """Whether it is a topic."""
        return any(map(is_topic, self.files))

    def key_type(self, key_type: str | None) -> str | None:
        """How a key of these records becomes the bytes that are hashed.

        Raises:
            PartwrightError: They are a topic's, whose keys are bytes already.
        """
        return topic_key_type(key_type) if self.is_topic else key_type

    def columns_by_role(
        self, columns: Mapping[str, str | None], needed: Sequence[str] = ("key",), of: str = ""
    ) -> dict[str, str]:
        """The named columns by role; none of a topic, whose records have their own.

        Args:
            columns: By role (`key`, `partition`, `timestamp`, `offset` and `size`), the column's name.
            needed: The roles that need a column, unless it is a topic.
            of: `_b` for the second of two sources.

        Raises:
            PartwrightError: A column is missing, is named twice, is not text, or is a topic's own.
        """
        for role, name in columns.items():
            if name is not None and not isinstance(name, str):
                raise PartwrightError(no_column_name(role + of, name, self._known_columns()), value=name)
            if self.is_topic and name not in {None, role}:
                raise PartwrightError(
                    f"{spelled(role + of)} {name!r} names a column of a file: a topic's records have their own {role}, "
                    "leave it out"
                )
        if self.is_topic:
            return {}
        if missing := [role for role in needed if columns[role] is None]:
            whose = "" if self.name is None else f" of {self.name!r}"
            names = " and ".join(f"the {role}'s column" for role in missing)
            parameters = " and ".join(spelled(role + of) for role in missing)
            raise PartwrightError(
                f"name {names}{whose} with {parameters}{known_columns(self._known_columns())}",
                path=self.name,
                field=missing[0],
            )
        role_of: dict[str, str] = {}
        for role, name in columns.items():
            if name in role_of:
                raise PartwrightError(
                    f"{name!r} cannot be both the {role_of[name]} and the {role}: name another column with "
                    f"{spelled(role + of)}"
                )
            if name is not None:
                role_of[name] = role
        return {role: name for name, role in role_of.items()}

    def _known_columns(self) -> list[str]:
        """The names of the columns, where they are known before records are read; files are looked for first."""
        if self.is_topic or "-" in self.files:
            return []
        if not self.files:
            return column_names(self.records)
        with self.open_files() as records:
            return list(next(iter(records.types()), {}))

    def open(
        self, columns: Mapping[str, str], key_type: str | None = None, *, sizes: bool = False
    ) -> AbstractContextManager[OpenRecords]:
        """The records, open while the block lasts.

        Args:
            columns: The result of `columns_by_role`.
            key_type: How a value becomes key bytes.
            sizes: Whether the sizes of a topic's records are asked for.

        Raises:
            PartwrightError: There is no such file or column, or the topic lacks a partition.
            BrokerError: No Kafka answers, there is no such topic, or no right to see it.
        """
        if self.is_topic:
            return nullcontext(_OpenTopic(self, sizes=sizes))
        if self.files:
            return _open_files(self, columns, key_type)
        pieces = record_columns(self.records, list(columns.values()), key_type)
        return nullcontext(OpenRecords(self, (dict(zip(columns, piece, strict=True)) for piece in pieces)))

    def open_files(self) -> Records:
        """The files, open; see `partwright.files.open_records`."""
        return open_records(self.files, self.format, self.delimiter, self.columns)

    def bounds(self) -> Bounds:
        """Which part of a topic is read."""
        return self.part if isinstance(self.part, Bounds) else options(self.part, TopicPart, "part").bounds()

    def refuse_settings_of_others(self) -> None:
        """Refuse settings for another kind of records.

        Raises:
            PartwrightError: There is one, or the format or the delimiter is none.
        """
        for each, known in (("format", WITH_TEXT), ("key_encoding", KEY_ENCODINGS)):
            value = getattr(self, each)
            if value not in {None, *known}:
                raise PartwrightError(
                    f"{spelled(each)} is one of {', '.join(known)}, not {shown(value)}", field=each
                )
        if not isinstance(self.delimiter, str | None):
            raise PartwrightError(
                f"{spelled('delimiter')} is one character, not {shown(self.delimiter)}", field="delimiter"
            )
        pairs = (("format", "delimiter"), ("columns", "key_encoding"))
        of_files = [pair for pair in pairs if any(getattr(self, each) for each in pair)]
        of_files_spelled = " and ".join(map(spelled, of_files[0])) if of_files else ""
        if self.is_topic:
            if len(self.files) > 1:
                raise PartwrightError("a topic is read alone: name one topic, or files")
            if of_files:
                raise PartwrightError(
                    f"{of_files_spelled} are for files, and a topic is named: leave them out"
                )
            return
        name = self.name
        what = "a table is given" if name is None else f"{name!r} is a file"
        if self.kafka_config is not None:
            raise PartwrightError(
                f"kafka_config= is for reaching a Kafka, and {what}: leave it out", path=name
            )
        if self.part is not None:
            raise PartwrightError(f"part= is for a topic, and {what}: leave it out", path=name)
        if name is None and of_files:
            raise PartwrightError(f"{of_files_spelled} are for files, and a table is given: leave them out")


class OpenRecords:
    """Records that can be read once.

    Attributes:
        partitions: A topic's number of partitions; None for others.
        among: How many of them are read.
        read_as: What a file's text was taken for; None for others.
    """

    partitions: int | None = None
    among: int | None = None
    read_as: str | None = None

    def __init__(self, source: RecordSource, batches: Iterator[dict[str, Column]]) -> None:
        self.source = source
        self._batches = batches

    def batches(self) -> Iterator[dict[str, Column]]:
        """Batches of columns by role: the named ones; of a topic, its own."""
        return self._batches

    def numbers(self, n: int | None) -> tuple[int, int | None]:
        """The number of partitions, which a topic has itself, and how many of those are read, if not all."""
        is_own = n in {None, self.partitions}
        return n or self.partitions or 0, self.among if is_own else None

    @property
    def is_part(self) -> bool:
        """Whether only a part of a topic was read, by request or because the reading was ended."""
        return False

    def read_counts(self) -> Json | None:
        """How much of a topic was read, as an object for JSON output; None for others."""
        return None

    def question(self) -> Question:
        """The question of an answer about them."""
        settings = {} if self.read_as is None else {"read as": self.read_as}
        return Question(source=self.source.name, read=self.read_counts(), settings=settings)


class _OpenTopic(OpenRecords):
    def __init__(self, source: RecordSource, *, sizes: bool) -> None:
        servers, topic = parse_topic(source.files[0])
        config = configured(source.kafka_config, servers)
        self._records = TopicRecords(config, topic, bounds=source.bounds(), sizes=sizes)
        self.partitions, self.among = self._records.partitions, self._records.among
        self._is_stopped = False
        super().__init__(source, self._read(f"kafka://{config.required_servers()}/{topic}"))

    def _read(self, name: str) -> Iterator[dict[str, Column]]:
        rows = 0
        with self.source.watch(name) as watched:

            def stopped() -> bool:
                self._is_stopped = bool(watched(rows, self._records.done))
                return self._is_stopped

            for chunk in self._records.batches(stopped):
                yield {
                    "key": chunk.keys,
                    "partition": chunk.partitions,
                    "offset": chunk.offsets,
                    "timestamp": chunk.timestamps,
                    **({} if chunk.sizes is None else {"size": chunk.sizes}),
                }
                rows += len(chunk.keys)
                watched(rows, self._records.done)
            stopped()
        if not self._is_stopped:
            self._records.look_again()

    @property
    def is_part(self) -> bool:
        return self._is_stopped or not self._records.bounds.is_whole

    def read_counts(self) -> Json:
        return {**self._records.read_counts(), "partitions": self.partitions, "interrupted": self._is_stopped}


@contextmanager
def _open_files(
    source: RecordSource, columns: Mapping[str, str], key_type: str | None
) -> Iterator[OpenRecords]:
    encoding = source.key_encoding
    requests = [
        key_request(name, key_type, encoding)
        if role == "key"
        else ColumnRequest(name, text_type("java:long"), lenient=True)
        for role, name in columns.items()
    ]
    with source.open_files() as records:

        def batches() -> Iterator[dict[str, Column]]:
            rows = 0
            with source.watch(str(source.name)) as watched:
                for batch in records.read(requests):
                    named = dict(zip(columns, batch, strict=True))
                    if encoding is not None:
                        named["key"] = decoded(named["key"], encoding, str(source.name), rows)
                    yield named
                    rows += len(batch[0])
                    watched(rows, records.done)

        opened = OpenRecords(source, batches())
        opened.read_as = records.read_as
        yield opened
        # A refusal is one sentence, so this comes after all was read.
        if records.read_as is not None and source.say is not None:
            source.say(f"{source.name} was read as {records.read_as}")


def topic_key_type(value: str | None) -> str | None:
    """Check the key type for a topic's keys, which are bytes already.

    Raises:
        PartwrightError: It would change the bytes.

    Examples:
        >>> topic_key_type("utf8"), topic_key_type("confluent:strip-id")
        (None, 'confluent:strip-id')
    """
    if value in {None, "bytes", "utf8", "java:string"}:
        return None
    if value != "confluent:strip-id":
        raise PartwrightError(
            f"a topic's keys are bytes already, whatever they stand for: leave out {spelled('key_type')} {value}, or "
            "give confluent:strip-id to hash what is behind a schema's id"
        )
    return value
