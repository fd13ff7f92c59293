r"""Which partition does a Kafka record go to, and who reads it?  The real client's exact answer, as a column.

A column in, a column out; one key in, one number out:

    >>> import partwright as pw
    >>> pw.partition_for_key("TT0124", 15)
    10
    >>> pw.partition_for_key(["TT0124", None, "N14228"], 12).to_pylist()
    [10, None, 8]
    >>> pw.murmur2(b"foobar")
    -790332482

A key's partition depends on its bytes: 42 as Java's long and "42" as text are different keys.

    >>> pw.encode(42, "java:long")
    b'\x00\x00\x00\x00\x00\x00\x00*'
    >>> pw.partition_for_key(42, 100, key_type="java:long"), pw.partition_for_key("42", 100)
    (52, 72)

Other clients have other rules; `which` shows who puts a key where, and `clients` each rule's source:

    >>> pw.partition_for_key("TT0124", 15, "librdkafka"), pw.which("TT0124", 15)["sarama"]
    (9, 2)
    >>> pw.clients().column_names[:3]
    ['client', 'hash', 'sign']

A strategy, of any version of Kafka, places records without a key:

    >>> producer = pw.Producer({"orders": 3}, "round-robin")
    >>> producer.place({"key": ["TT0124", None, None]}).to_pylist()
    [0, 1, 2]

A producer's batches, one by one until brokers acknowledge them, before the producer runs:

    >>> records = {"time": [0] * 9, "size": [100] * 9}
    >>> pw.batching.compare(records, {"orders": 3}, ["round-robin", "sticky"]).to_arrow().column("batches").to_pylist()
    [3, 1]

Who in a consumer group reads what, as Kafka's own assignors decide:

    >>> pw.assign({"orders": 3}, {"c1": ["orders"], "c2": ["orders"]}, "sticky").to_dict()
    {'c1': [('orders', 0), ('orders', 2)], 'c2': [('orders', 1)]}

A group over time, as members join and leave:

    >>> pw.group.play({"topics": {"orders": 3}, "assignor": "cooperative-sticky", "events": "+2, +1"}).moved
    1

In Spark the same column is `partwright.spark.partition_for_key(col, n)`; a real Kafka to try things on is
`partwright.kafka.EmbeddedKafka`. Every refusal is a `PartwrightError`, and
a refused value is also a `ValueError`.
"""

from __future__ import annotations

# Type checkers accept this name too; `typing` itself takes longer to import than this file.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from partwright import audit, batching, cluster, group
    from partwright.assignors import quotas
    from partwright.assignors.comparison import compare
    from partwright.assignors.group_assignment import assign
    from partwright.assignors.group_batches import assign_groups
    from partwright.assignors.strategy_setting import assignment_strategy, rebalance_protocol, select_assignor
    from partwright.audit.check import CheckLimits
    from partwright.audit.contracts import check_contract, contract
    from partwright.audit.copartition import JoinSide
    from partwright.audit.resize import RecordColumns
    from partwright.audits import check, copartition, fingerprint, resize
    from partwright.batching.simulation import simulate
    from partwright.cluster import Cluster
    from partwright.cluster.reassignment.plan import reassign
    from partwright.cluster.sizing.advice import advise
    from partwright.errors import (
        BrokerError,
        ContractError,
        KeyTypeError,
        MissingExtraError,
        PartwrightError,
    )
    from partwright.group.rollouts.rolled_pods import rollout
    from partwright.kafka.bounds import TopicPart
    from partwright.keys.client_profiles import clients, which
    from partwright.keys.hashing import coordinator_partition, encode, murmur2, partition_for_key
    from partwright.producer.configs import ProducerConfig
    from partwright.producer.producer import Producer
    from partwright.producer.records import Workload
    from partwright.producer.strategy import strategies
    from partwright.record_source import RecordSource

    __version__: str

__all__ = [
    "BrokerError",
    "CheckLimits",
    "Cluster",
    "ContractError",
    "JoinSide",
    "KeyTypeError",
    "MissingExtraError",
    "PartwrightError",
    "Producer",
    "ProducerConfig",
    "RecordColumns",
    "RecordSource",
    "TopicPart",
    "Workload",
    "advise",
    "assign",
    "assign_groups",
    "assignment_strategy",
    "audit",
    "batching",
    "check",
    "check_contract",
    "clients",
    "cluster",
    "compare",
    "contract",
    "coordinator_partition",
    "copartition",
    "encode",
    "fingerprint",
    "group",
    "murmur2",
    "partition_for_key",
    "quotas",
    "reassign",
    "rebalance_protocol",
    "resize",
    "rollout",
    "select_assignor",
    "simulate",
    "strategies",
    "which",
]

if not TYPE_CHECKING:
    # The column functions import pyarrow and numpy, which takes far longer than everything else. pytest, which loads
    # our plug-in, and `--help` do without them. Nothing at all is imported here, so that the command can be interrupted
    # from its first moment on.
    _MODULES = {
        "audit": "partwright.audit",
        "batching": "partwright.batching",
        "cluster": "partwright.cluster",
        "group": "partwright.group",
        "quotas": "partwright.assignors.quotas",
    }
    _NAMES = {
        name: f"partwright.{module}"
        for module, names in {
            "assignors.group_assignment": ["assign"],
            "assignors.comparison": ["compare"],
            "assignors.group_batches": ["assign_groups"],
            "assignors.strategy_setting": ["assignment_strategy", "rebalance_protocol", "select_assignor"],
            "audit.check": ["CheckLimits"],
            "audit.contracts": ["check_contract", "contract"],
            "audit.copartition": ["JoinSide"],
            "audit.resize": ["RecordColumns"],
            "audits": ["check", "copartition", "fingerprint", "resize"],
            "batching.simulation": ["simulate"],
            "cluster": ["Cluster"],
            "cluster.reassignment.plan": ["reassign"],
            "cluster.sizing.advice": ["advise"],
            "errors": [
                "BrokerError",
                "ContractError",
                "KeyTypeError",
                "MissingExtraError",
                "PartwrightError",
            ],
            "group.rollouts.rolled_pods": ["rollout"],
            "kafka.bounds": ["TopicPart"],
            "keys.client_profiles": ["clients", "which"],
            "keys.hashing": ["coordinator_partition", "encode", "murmur2", "partition_for_key"],
            "producer.configs": ["ProducerConfig"],
            "producer.producer": ["Producer"],
            "producer.records": ["Workload"],
            "producer.strategy": ["strategies"],
            "record_source": ["RecordSource"],
        }.items()
        for name in names
    }

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - at the top it would be a name of ours

        if name in _MODULES:
            return import_module(_MODULES[name])
        if name == "__version__":
            globals()[name] = import_module("importlib.metadata").version(__name__)
            return globals()[name]
        if name not in _NAMES:
            hint = import_module("partwright._check").meant_name(name, __all__)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
        globals()[name] = getattr(import_module(_NAMES[name]), name)
        return globals()[name]

    def __dir__() -> list[str]:
        # Modules that were imported meanwhile are no part of it.
        return sorted({*__all__, "__version__", *(name for name in globals() if name.startswith("__"))})
