"""A run's settings and target, from the command line's words, checked before Spark starts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from partwright import _core
from partwright._check import shown
from partwright.errors import PartwrightError
from partwright.kafka.address import parse_kafka
from partwright.kafka.bounds import WHOLE, Bounds
from partwright.kafka.topics import NewTopic
from partwright.keys.hashing import encode
from partwright.keys.key_text import read_key
from partwright.producer.configs import ProducerConfig
from partwright.producer.custom import is_path
from partwright.producer.producer import Producer

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig

# Spark keeps a limit's row count in an int.
_LARGEST_LIMIT = 2**31 - 1
STRIP_ID = "confluent:strip-id"
"""The key type that removes a schema's ID from the key for hashing only."""
ID_BYTES = 5
"""The length of the header that holds a schema's ID."""


@dataclass(frozen=True)
class KafkaTarget:
    """Topics of a Kafka cluster.

    Attributes:
        config: The client configuration that reaches it, with its servers.
        needs_spark: Whether only Spark writes to it.
    """

    config: KafkaConfig
    needs_spark: ClassVar[bool] = False

    @property
    def bootstrap_servers(self) -> str:
        """Where its brokers are."""
        return self.config.required_servers()

    def __str__(self) -> str:
        return f"kafka://{self.bootstrap_servers}"


@dataclass(frozen=True)
class ParquetTarget:
    """A folder with one folder per partition.

    Attributes:
        folder: A folder of this machine, or the address of one in any file system that Spark can write to, as text.
        config: See `KafkaTarget`; None, for no Kafka is reached.
    """

    folder: Path | str
    config: ClassVar[None] = None

    @property
    def needs_spark(self) -> bool:
        """See `KafkaTarget`; addresses are those of Spark's file systems."""
        return isinstance(self.folder, str)

    def __str__(self) -> str:
        return f"parquet:{self.folder}"


@dataclass(frozen=True)
class PlacementRule:
    """What placed the records; see the same fields of `RunManifest`."""

    client: str
    strategy: str | None
    key_type: str | None


class SourceColumns(NamedTuple):
    """The columns of a source that the options name, and how the key's becomes bytes; None where none is named."""

    key: str | None
    value: str | None
    timestamp: str | None
    partition: str | None
    field: str | None
    key_type: str | None


@dataclass(frozen=True)
class RunSettings:
    """The settings of one run.

    Attributes:
        runner: What does the work: `spark` or `local`, which is this process; None chooses.
        source: A csv, json or parquet file or folder, `kafka://host:port/topic`, or whatever Spark's `format` loads;
            None means the flights of 2013.
        format: The name of Spark's data source, if the source's own name does not tell it.
        options: Options of that data source.
        key: The column with the record's key.
        key_type: How that value becomes key bytes (`partwright.encode`).
        value: The column with the record's value, text or binary; None makes a JSON object of all columns.
        topic: The topic's name, or the first part of the folders' names.
        partitions: How many partitions the topic has; None uses the topic's own number, or 12 for a new topic.
        source_config: The client configuration that reaches a source's Kafka; None for any other source.
        target: Where the records go; None means an embedded Kafka for the length of the run.
        client: The client profile that places the records.
        master: Spark's master.
        limit: How many of the source's first records are taken; None takes all.
        check: Whether every record is read back and checked.
        proof: Whether a Java producer proves it: the records go to a second topic without a partition.
        append: Whether the topic may already hold records.
        resume: Whether to resume the last run of this source into this topic.
        dedupe: The file for the offsets of copies beyond each record's first.
        state: The folder of the run's ledger, in any file system that pyarrow knows; None uses a topic of the target.
        exactly_once: Whether each task writes in transactions.
        null_keys: `spread` gives records that the client does not place by their key a partition by their place in the
            source; `producer` leaves them to the producer that writes them.
        timestamp: The column with the records' timestamps; None uses those of a source topic.
        replication_factor: How many replicas each partition of a new topic has; None uses the cluster's default.
        replica_assignment: The brokers of each partition of a new topic, `0:1,1:2`, instead of `partitions` and
            `replication_factor`.
        topic_configs: A new topic's own settings, by Kafka's names.
        bounds: Which part of a source topic is read.
        only_keys: The keys whose records are taken, as text that `key_type` reads; empty takes all.
        configs: Further settings of the Spark session.
        strategy: What else than the key chooses the partitions: one of `partwright.strategies()` or the dotted path of
            a partitioner; None leaves records that the client does not place by key to the producer that writes them.
        partition: The column with the partitions that records name themselves.
        field: The column that the strategy `field` hashes.
        seed: The seed of the strategy's draws.
        properties: The producer's configuration for the strategy, under Kafka's own keys.
    """

    runner: str | None = None
    source: str | None = None
    format: str | None = None
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    key: str | None = None
    key_type: str | None = None
    value: str | None = None
    topic: str | None = None
    partitions: int | None = None
    source_config: KafkaConfig | None = None
    target: KafkaTarget | ParquetTarget | None = None
    client: str = "java"
    master: str = "local[*]"
    limit: int | None = None
    check: bool = True
    proof: bool = True
    append: bool = False
    resume: bool = False
    dedupe: str | None = None
    state: str | None = None
    exactly_once: bool = False
    null_keys: str = "spread"
    timestamp: str | None = None
    replication_factor: int | None = None
    replica_assignment: str | None = None
    topic_configs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    bounds: Bounds = WHOLE
    only_keys: tuple[str, ...] = ()
    configs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    strategy: str | None = None
    partition: str | None = None
    field: str | None = None
    seed: int = 0
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)

    DEFAULT_PARTITIONS = 12

    @property
    def is_local(self) -> bool:
        """Whether this process does the work, without Spark."""
        return self.runner == "local"

    @property
    def is_marked(self) -> bool:
        """Whether each record gets the header that identifies it later."""
        return self.check or self.exactly_once or self.resume

    @property
    def is_into_folders(self) -> bool:
        """Whether the records go to folders, not to a topic."""
        return self.target is not None and self.target.config is None

    @property
    def is_recorded(self) -> bool:
        """Whether somebody could resume it: not if nobody knows where the producer puts its records."""
        return self.target is not None and self.is_marked and self.null_keys == "spread"

    @property
    def new_topic(self) -> NewTopic:
        """The settings of a topic that the run creates, apart from its number of partitions."""
        return NewTopic.read(
            self.partitions, self.replication_factor, self.replica_assignment, self.topic_configs
        )

    @property
    def asked_partitions(self) -> int | None:
        """How many partitions were asked for, by number or by replicas; None if nobody asked."""
        return self.partitions if self.replica_assignment is None else self.new_topic.partitions

    @property
    def is_from_topic(self) -> bool:
        """Whether the source is a topic."""
        return self.source is not None and self.source.startswith("kafka:")

    @property
    def columns(self) -> SourceColumns:
        """The columns of the source that the options name."""
        return SourceColumns(
            self.key, self.value, self.timestamp, self.partition, self.field, self.source_key_type
        )

    @property
    def source_key_type(self) -> str | None:
        """How the source's keys become key bytes: a topic's keys already are bytes, whatever `only_keys` are."""
        if self.is_from_topic and self.only_keys and self.key_type != STRIP_ID:
            return None
        return self.key_type

    @property
    def wanted_keys(self) -> frozenset[bytes]:
        """The bytes of `only_keys`; under confluent:strip-id, the bytes after a schema's ID.

        Raises:
            PartwrightError: One of them does not fit the key type.
        """
        key_type = "bytes" if self.key_type == STRIP_ID else self.key_type
        return frozenset(encode(read_key(text, key_type), key_type) for text in self.only_keys)

    @property
    def is_by_strategy(self) -> bool:
        """Whether more than its key decides where a record goes."""
        return self.strategy not in {None, "key"} or self.partition is not None

    @property
    def is_own_partitioner(self) -> bool:
        """Whether a class of the user's own chooses the partitions."""
        return self.strategy is not None and is_path(self.strategy)

    @property
    def strategy_name(self) -> str | None:
        """The strategy with its version; None if the key alone decides."""
        return self._producer().strategy if self.is_by_strategy else None

    @property
    def chooses_for_keys(self) -> bool:
        """Whether a record with a key may go to another partition than its key says."""
        return self.partition is not None or (self.is_by_strategy and self._producer().takes_keyed)

    @property
    def producer(self) -> ProducerConfig:
        """The producer that places the records; without a strategy, None leaves it those that the client does not."""
        return ProducerConfig(self.strategy, self.properties, self.client, self.source_key_type, self.seed)

    @property
    def rule(self) -> PlacementRule:
        """What places the records, as a manifest has it."""
        return PlacementRule(self.client, self.strategy_name, self.key_type)

    def deciding(self, source_format: str, key: str | None) -> dict[str, str | None]:
        """The settings that decide which records a run writes and where, by option.

        Args:
            source_format: The source's format.
            key: The column with the key.
        """
        settings = {
            "--runner": self.runner if self.is_local else None,
            "--format": source_format,
            "--key": key,
            "--key-type": self.key_type,
            "--value": self.value,
            "--timestamp": self.timestamp,
            "--client": self.client,
            "--strategy": self.strategy_name,
            "--partition": self.partition,
            "--field": self.field,
            "--seed": self.seed if self.is_by_strategy else None,
            "--limit": self.limit,
            "--only-keys": ", ".join(self.only_keys) or None,
            "--null-keys": self.null_keys,
            "--producer-property": ", ".join(
                f"{key}={value}" for key, value in sorted(self.properties.items())
            )
            or None,
        }
        return {option: None if value is None else str(value) for option, value in settings.items()}

    @property
    def why_no_proof(self) -> str | None:
        """Why a Java producer's choice would prove nothing; None if it proves something."""
        if self.key_type == STRIP_ID:
            return "it hashes a schema registry's header too"
        if self.chooses_for_keys:
            return "it was not told what chooses the partitions of records with keys here"
        if not self.agrees_with_java:
            return f"client {self.client} puts keys elsewhere"
        return None

    @property
    def agrees_with_java(self) -> bool:
        """Whether the client puts every key where a Java producer does."""
        return any(row["client"] == self.client and row["agrees_with_java"] for row in _core.clients())

    def __post_init__(self) -> None:
        """Refuse what no run could do.

        Raises:
            PartwrightError: The number of partitions, the client, the key type or the limit is wrong, or an option for
                topics is given for another target.
        """
        for refusal in self._refusals():
            raise PartwrightError(refusal)

    def _refusals(self) -> Iterator[str]:
        if not self.new_topic.is_default and self.is_into_folders:
            yield (
                "--replication-factor, --replica-assignment and --topic-config are for a topic, and --to "
                f"{self.target} is a folder: leave them out"
            )
        number = self.DEFAULT_PARTITIONS if self.asked_partitions is None else self.asked_partitions
        _core.check(number, self.client, self.key_type)
        # Refused now, not only once Spark has started.
        _ = self.wanted_keys
        if self.limit is not None and not 1 <= self.limit <= _LARGEST_LIMIT:
            yield f"--limit takes a whole number from 1 to {_LARGEST_LIMIT}, not {self.limit}"
        is_twice = self.configs.get("spark.speculation", "").lower() == "true"
        if is_twice and not self.exactly_once and not self.is_into_folders:
            yield (
                "--conf spark.speculation=true would run slow tasks a second time, and Spark's Kafka sink would write "
                "their records twice: leave it out, or add --exactly-once"
            )
        if self.is_local:
            yield from self._refused_locally()
        yield from self._refused_strategies()
        yield from self._refused_ways_to_write()
        yield from self._refused_timestamps()

    def _refused_ways_to_write(self) -> Iterator[str]:
        placed = {"--resume": self.resume, "--exactly-once": self.exactly_once, "--state": self.state}
        for_topics = placed | {"--dedupe": self.dedupe, "--append": self.append}
        stays = self.target is not None and not self.is_into_folders
        if not stays and (option := _first_given(for_topics)):
            yield f"{option} is for a topic that stays: name one with --to kafka://host:port"
        if self.null_keys not in {"spread", "producer"}:
            yield f"--null-keys takes spread or producer, not {shown(self.null_keys)}"
        if self.null_keys == "producer" and (option := _first_given(placed)):
            yield f"{option} needs to know where each record goes: leave out --null-keys producer"
        if self.state is not None and not self.is_marked:
            yield (
                f"--state {self.state} is where --resume finds a run, and without the header, which --no-check leaves "
                "out, none can go on: leave out one of them"
            )
        if self.dedupe is not None:
            if not self.check:
                yield "--dedupe names what reading back finds: leave out --no-check"
            if not Path(self.dedupe).absolute().parent.is_dir():
                yield f"there is no folder for --dedupe {self.dedupe!r}: make it first"
        if self.resume and self.append:
            yield "--resume goes on with a run, --append begins another one: give only one of them"

    def _refused_timestamps(self) -> Iterator[str]:
        if self.timestamp is None:
            return
        if self.is_into_folders:
            yield f"--timestamp {self.timestamp} would be lost, for --to {self.target} keeps none: leave it out"
        elif not self.exactly_once and not self.is_local:
            yield (
                f"--timestamp {self.timestamp} would be lost, for Spark's Kafka sink ignores timestamps: add "
                "--exactly-once, whose writer keeps them"
            )

    @property
    def option_for_spark(self) -> str | None:
        """The first option that only Spark takes; None if there is none."""
        of_spark = {
            "--master": self.master != RunSettings.master,
            "--conf": self.configs,
            "--option": self.options,
            "--null-keys producer": self.null_keys == "producer",
            f"--to {self.target}": self.target is not None and self.target.needs_spark,
        }
        return _first_given(of_spark)

    def _refused_locally(self) -> Iterator[str]:
        if option := self.option_for_spark:
            yield f"{option} is for Spark, and --runner local starts none: leave it out, or say --runner spark"

    def _refused_strategies(self) -> Iterator[str]:
        if not self.is_by_strategy:
            options = {"--field": self.field, "--producer-property": self.properties, "--seed": self.seed}
            if option := _first_given(options):
                yield f"{option} is for a strategy: name it with --strategy, such as sticky"
            return
        name = self._producer().strategy
        columns = {"explicit": ("--partition", self.partition), "field": ("--field", self.field)}
        option, column = columns.get(name, ("", ""))
        if column is None:
            yield f"the strategy {name} goes by a column of the source: name it with {option} (partwright run)"
        if self.field is not None and name != "field":
            yield f"--field is what the strategy field goes by, not {name}"

    def _producer(self) -> Producer:
        """The producer that each of Spark's tasks is, without its partitions; refuses unknown strategies."""
        strategy = self.strategy or "key"
        config = ProducerConfig(strategy, self.properties, self.client, self.key_type, self.seed)
        return Producer({"topic": 1}, config)


def _first_given(options: Mapping[str, object]) -> str | None:
    return next((option for option, value in options.items() if value), None)


def parse_target(
    text: str, config: Callable[[str | None], KafkaConfig]
) -> tuple[KafkaTarget | ParquetTarget, str | None]:
    """The target that `--to` names, and the topic if it names one.

    Args:
        text: What `--to` says.
        config: Returns the client configuration for an address's servers, or for its own if the address has none.

    Raises:
        PartwrightError: It is neither `kafka://host:port[/topic]` nor `parquet:DIR` nor `parquet:URI`, or the
            configuration is wrong, or an address has a password.

    Examples:
        >>> from partwright.kafka.connection import KafkaConfig
        >>> at = "kafka://127.0.0.1:9092/flights"
        >>> target, topic = parse_target(at, lambda servers: KafkaConfig.read({}, servers=servers))
        >>> str(target), topic
        ('kafka://127.0.0.1:9092', 'flights')
    """
    if text.startswith("kafka:"):
        servers, topic = parse_kafka(text)
        target = KafkaTarget(config(servers))
        # Refused now, not only once Spark has started.
        target.config.required_servers()
        return target, topic
    kind, _, folder = text.partition(":")
    if kind == "parquet" and folder:
        return ParquetTarget(_address(folder) if _ADDRESS.match(folder) else Path(folder)), None
    raise PartwrightError(
        "--to takes kafka://host:port or parquet:DIR, a folder of this machine or an address such as "
        f"s3a://bucket/path, not {shown(text)}"
    )


_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def _address(text: str) -> str:
    """A folder's address, which reports show."""
    if re.match(r"[^/]+://[^/@]*:[^/@]*@", text):
        raise PartwrightError(
            f"--to parquet:{text.partition('://')[0]}:// has a password in its address, which would be shown: give it "
            "to Spark, in a file of Hadoop's or by --conf spark.hadoop..."
        )
    return text
