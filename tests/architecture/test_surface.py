"""The extension module, its stub and the public names agree, and each public name has a docstring."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import partwright as pw
from partwright import _core
from partwright import report as pw_report
from partwright import spark as pw_spark
from partwright.answer import Answer
from partwright.cluster import Broker, Partition

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python" / "partwright"
STUB = PYTHON / "_core.pyi"
PUBLIC = [
    "partwright",
    "partwright.audit",
    "partwright.cluster",
    "partwright.cluster.placement",
    "partwright.cluster.storage",
    "partwright.errors",
    "partwright.group",
    "partwright.keys.hashing",
    "partwright.kafka",
    "partwright.migration",
    "partwright.report",
    "partwright.spark",
]


def stub() -> ast.Module:
    return ast.parse(STUB.read_text(encoding="utf-8"))


def stub_functions() -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in stub().body if isinstance(node, ast.FunctionDef)}


def stub_classes() -> set[str]:
    return {node.name for node in stub().body if isinstance(node, ast.ClassDef)}


def module_functions() -> dict[str, Any]:
    return {name: value for name, value in vars(_core).items() if callable(value)}


def test_the_stub_and_the_extension_module_name_the_same_functions() -> None:
    assert {"murmur2", "partition_for_key", "encode"} <= set(stub_functions())
    data_types = {"Batching", "ClassicGroup", "ConsumerGroup", "KeySums", "Placer", "Producer", "Timeline"}
    assert stub_classes() == {*data_types, "OneKeyFirst"}
    assert {*stub_functions(), *stub_classes()} == set(module_functions()) == set(_core.__all__)
    (named,) = [
        ast.literal_eval(node.value)
        for node in stub().body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert named == sorted(_core.__all__)


@pytest.mark.parametrize("name", stub_functions())
def test_a_functions_stub_has_its_parameters(name: str) -> None:
    function = module_functions()[name]
    signature = inspect.signature(function)
    arguments = stub_functions()[name].args
    assert list(signature.parameters) == [argument.arg for argument in arguments.args]
    optional = [
        name for name, one in signature.parameters.items() if one.default is not inspect.Parameter.empty
    ]
    assert len(optional) == len(arguments.defaults)
    assert all(signature.parameters[one].default is None for one in optional)
    assert (function.__doc__ or "").rstrip().endswith(".")


def test_every_function_of_the_extension_module_is_used() -> None:
    used = set()
    for path in PYTHON.rglob("*.py"):
        used |= set(re.findall(r"(?<!\.)\b_core\.(\w+)", path.read_text(encoding="utf-8")))
    assert "murmur2" in used
    # The addresses let the tests see that nothing is copied.
    assert set(_core.__all__) - used == {"key_addresses"}
    assert used <= set(_core.__all__)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_there_and_says_what_it_is(module: str) -> None:
    found = importlib.import_module(module)
    assert found.__all__
    assert len(set(found.__all__)) == len(found.__all__)
    assert (found.__doc__ or "").strip()
    for name in found.__all__:
        value = getattr(found, name)
        assert not name.startswith("_")
        documented = inspect.getdoc(value) or ""
        assert documented, f"{module}.{name} has no docstring"
        assert documented.splitlines()[0].endswith((".", ":", "?")), (
            f"{module}.{name}: {documented.splitlines()[0]}"
        )


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_function_says_what_it_takes_gives_and_refuses(module: str) -> None:
    found = importlib.import_module(module)
    for name in found.__all__:
        function = getattr(found, name)
        if not inspect.isfunction(inspect.unwrap(function)):
            continue
        documented = inspect.getdoc(function) or ""
        if inspect.signature(function).return_annotation not in {None, "None"}:
            assert "Returns:" in documented, f"{module}.{name}"
        for parameter in inspect.signature(function).parameters:
            assert re.search(rf"\b{parameter}\b", documented), (
                f"{module}.{name} does not speak of {parameter}"
            )
        for annotation in [*inspect.signature(function).parameters.values()]:
            assert annotation.annotation is not inspect.Parameter.empty, f"{module}.{name} {annotation}"


@pytest.mark.parametrize(
    "path", sorted(PYTHON.rglob("*.py")), ids=lambda path: path.relative_to(PYTHON).as_posix()
)
def test_what_a_module_lists_as_public_is_there(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    listed: list[str] | None = None
    defined, imported = set(), set()
    nodes = list(tree.body)
    if "def __getattr__" in path.read_text(encoding="utf-8"):
        # A name imported only for the type checker is returned when it is asked for.
        nodes += [each for node in tree.body if isinstance(node, ast.If) for each in node.body]
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if names == ["__all__"] and node.value is not None:
                listed = ast.literal_eval(node.value)
            defined |= set(names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= {alias.asname or alias.name for alias in node.names}
    if listed is None:
        assert path.name in {"__init__.py", "__main__.py", "embedded_supervisor.py"}
        return
    assert set(listed) <= defined | imported
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("module", PUBLIC)
def test_no_public_function_hides_a_module(module: str) -> None:
    found = importlib.import_module(module)
    for folder in getattr(found, "__path__", ()):
        for name in found.__all__:
            if inspect.isfunction(inspect.unwrap(getattr(found, name))):
                assert not (Path(folder) / f"{name}.py").exists(), f"{module}.{name}"


def test_the_errors_are_one_family() -> None:
    names = [getattr(pw, name) for name in pw.__all__]
    errors = [value for value in names if inspect.isclass(value) and issubclass(value, Exception)]
    assert len(errors) >= 4
    for error in errors:
        assert issubclass(error, pw.PartwrightError)
        assert issubclass(error, ValueError) == (error not in {pw.PartwrightError, pw.BrokerError})
        assert error.__module__ == "partwright.errors"
        assert error.__name__ in pw.__all__
    assert issubclass(pw.KeyTypeError, TypeError)
    assert not issubclass(pw.PartwrightError, TypeError)


def plain(function: Any) -> str:
    """A signature without its types."""
    bare = inspect.signature(function)
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in bare.parameters.values()]
    return str(bare.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def test_the_signatures_are_those_that_are_promised() -> None:
    """The signatures of interfaces.md, section 3, and `threads`; callers rely on keywords and positions."""
    promised = {
        pw.murmur2: "(keys, *, key_type=None, threads=1)",
        pw.partition_for_key: "(keys, n, client='java', key_type=None, *, threads=1)",
        pw.encode: "(values, key_type=None)",
        pw.coordinator_partition: "(ids, n=None, *, broker_kind='kafka')",
    }
    assert {function: plain(function) for function in promised} == promised


def test_the_signatures_of_the_verbs_are_those_that_are_promised() -> None:
    """What, key, n, client, key_type: in this order in every verb on records, and in Spark as in plain Python."""
    promised = {
        pw.check: "(records, key=None, n=None, client='java', key_type=None, *, partition=None, limits=None, "
        "kafka_config=None)",
        pw.fingerprint: "(records, key=None, n=None, key_type=None, *, partition=None, timestamp=None, offset=None, "
        "kafka_config=None)",
        pw.resize: "(records, key=None, from_=None, to=None, client='java', key_type=None, *, columns=None, "
        "kafka_config=None)",
        pw.copartition: "(a, b, key=None, n=None, client=None, key_type=None, *, partition=None, kafka_config=None)",
        pw.check_contract: "(records, key=None, n=None, client='java', key_type=None, *, max_share=None, "
        "min_used=None)",
        pw.contract: "(key=None, n=None, client='java', key_type=None, *, max_share=None, min_used=None)",
        pw.RecordSource: "(records, format=None, delimiter=None, part=None, kafka_config=None, watch="
        f"{pw.RecordSource.watch})",
        pw.TopicPart: "(since=None, until=None, last=None, only_partitions=None, headers=False)",
        pw.CheckLimits: "(max_share=None, min_used=None, show=10)",
        pw.RecordColumns: "(partition=None, offset=None, size=None)",
        pw.JoinSide: "(records, key=None, n=None, client=None, key_type=None, partition=None)",
    }
    assert {function: plain(function) for function in promised} == promised
    for verb in ("check", "fingerprint", "resize", "copartition"):
        ours, sparks = (
            [*inspect.signature(getattr(module, verb)).parameters.values()] for module in (pw, pw_spark)
        )
        assert [(each.name, each.kind, each.default) for each in sparks][1:] == [
            (each.name, each.kind, each.default) for each in ours if each.name != "kafka_config"
        ][1:]


def test_what_compares_gives_an_answer_that_names_what_is_compared_first() -> None:
    members = [{"id": each, "topics": ["t"]} for each in ("c1", "c2")]
    records = {"time": [0] * 9, "size": [100] * 9}
    compared: list[tuple[Answer, list[str]]] = [
        (pw.compare({"t": 3}, members), ["assignor"]),
        (pw.batching.compare(records, {"t": 3}, ["sticky", "round-robin"]), ["name"]),
        (pw.group.compare({"topics": {"t": 2}, "events": "+1"}), ["protocol", "static"]),
    ]
    for answer, names in compared:
        assert isinstance(answer, Answer)
        assert answer.table().column_names[: len(names)] == names
        assert answer.table().num_rows > 1


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_function_takes_eight_parameters_at_most(module: str) -> None:
    found = importlib.import_module(module)
    for name in found.__all__:
        function = getattr(found, name)
        # Those of a group are Kafka's own: topics, members, racks and so on.
        if inspect.isfunction(inspect.unwrap(function)) and name != "assign":
            assert len(inspect.signature(function).parameters) <= 8, f"{module}.{name}"


def test_a_clusters_signatures_are_those_that_are_promised() -> None:
    """The cluster that strategies look at: how it is made, and its methods."""
    promised = {
        pw.Cluster: "(brokers, topics, *, strict=True)",
        pw.Cluster.of: "(topics)",
        pw.Cluster.from_dict: "(given, *, strict=True)",
        pw.Cluster.from_json: "(given, *, strict=True)",
        pw.Cluster.from_kafka: "(source, topics=None, *, timeout=5.0, kafka_config=None)",
        pw.Cluster.to_dict: "(self)",
        pw.Cluster.partitions: "(self, topic)",
        pw.Cluster.available: "(self, topic)",
        pw.Cluster.check_leaders: "(self, topic)",
        pw.Cluster.leader_of: "(self, topic, partition)",
        pw.Cluster.broker: "(self, id)",
        pw.Cluster.with_topic: "(self, name, partitions)",
        pw.Cluster.in_metadata_order: "(self)",
        Broker: "(id, host=None, port=None, rack=None, region=None)",
        Partition: "(id, leader=None, replicas=(), in_sync_replicas=(), offline_replicas=())",
    }
    assert {function: plain(function) for function in promised} == promised
    public = {name for name in vars(pw.Cluster) if not name.startswith("_")}
    pinned = {function.__name__ for function in promised if inspect.isroutine(function)}
    assert public == {"brokers", "strict", "topics"} | pinned


def test_the_signatures_of_placements_names_and_advice_are_those_that_are_promised() -> None:
    """Where replicas are, the names of logs, and how many partitions to take."""
    placement, storage = pw.cluster.placement, pw.cluster.storage
    promised = {
        placement.modulo: "(brokers, partitions, replication_factor=1)",
        placement.admin_utils: (
            "(brokers, partitions, replication_factor=1, *, start_index=0, shift=None, start_partition=0)"
        ),
        placement.striped: "(brokers, partitions, replication_factor=1, *, fenced=(), seed=None, draws=None)",
        placement.explicit: "(assignment, brokers=None)",
        placement.rack_alternated: "(brokers)",
        placement.Placement: "(brokers, replicas, first=0, draws=(), in_sync=())",
        placement.Placement.of: "(cluster, topic)",
        placement.Placement.load: "(self)",
        placement.Placement.lost: "(self, brokers=(), racks=(), *, min_insync_replicas=1)",
        placement.Placement.to_cluster: "(self, topic)",
        placement.Placement.to_arrow: "(self)",
        placement.Placement.to_text: "(self)",
        placement.Placement.to_json: "(self, topic)",
        storage.check_topic: "(topic)",
        storage.collisions: "(topics)",
        storage.log_directory: "(topic, partition)",
        storage.log_directories: "(topic, partitions)",
        storage.read_directory: "(name)",
        storage.read_listing: "(names)",
        storage.segment_file: "(base_offset, kind='log')",
        storage.segment_files: "(base_offset)",
        storage.read_segment_file: "(name)",
        pw.cluster.advise: ("(target_mb_s, clients=None, fleet=None, *, growth=1.0)"),
        pw.cluster.TopicClients: (
            "(produce_mb_s=(10.0, 50.0), consume_mb_s=(10.0, 50.0), consumers=1, groups=1, producers=1, "
            "batch_size=16384, buffer_memory=33554432)"
        ),
        pw.cluster.BrokerFleet: (
            "(brokers=None, replication_factor=None, power=None, held=0, segments=(1, 10), replica_fetchers=1, "
            "cleaner_threads=1, clean_s=(0.1, 10), platform=None)"
        ),
    }
    assert {function: plain(function) for function in promised} == promised


def test_a_producers_signatures_are_those_that_are_promised() -> None:
    """A strategy at work: how it is made, the calls of Kafka's Partitioner, and the table's."""
    promised = {
        pw.Producer: ("(cluster, config=None, *, draws=None, counters=None, lingers=True, leader=None)"),
        pw.Producer.partition: "(self, topic, key=None, value=None, *, time=0)",
        pw.Producer.place_record: "(self, topic, key=None, value=None, *, partition=None, time=0)",
        pw.Producer.on_new_batch: "(self, topic, previous)",
        pw.Producer.update: "(self, cluster)",
        pw.Producer.place: ("(self, records, workload=None, *, topic=None)"),
        pw.Producer.close: "(self)",
        pw.strategies: "()",
    }
    assert {function: plain(function) for function in promised} == promised
    public = {name for name in vars(pw.Producer) if not name.startswith("_")}
    told = {"counts_bytes", "drawn", "is_told", "keeps_state", "sticky", "takes_keyed", "takes_values"}
    assert public == told | {function.__name__ for function in promised if inspect.isfunction(function)} - {
        "strategies"
    }


def test_the_calls_within_a_producer_are_those_that_are_promised() -> None:
    """The calls that Kafka's own producer makes of its sticky partitions, apart from a user's."""
    sticky = type(pw.Producer({"orders": 1}).sticky)
    promised = {
        sticky.next_partition: "(self, topic, previous=-1)",
        sticky.append: "(self, topic, produced, *, enable_switch=True)",
        sticky.load_stats: "(self, topic, queue_sizes, partition_ids=(), *, leader_racks=None, length=None)",
    }
    assert {function: plain(function) for function in promised} == promised
    assert {name for name in vars(sticky) if not name.startswith("_")} == {
        function.__name__ for function in promised
    }


def test_the_signatures_of_simulations_are_those_that_are_promised() -> None:
    """Batches before a producer runs: one strategy with all its tables, several with a row each, a scenario of JSON."""
    promised = {
        pw.ProducerConfig: "(strategy=None, configs=None, client='java', key_type=None, seed=0)",
        pw.Workload: (
            "(key=None, partition=None, value=None, size=None, time=None, field=None, headers=None)"
        ),
        pw.batching.Delivery: (
            "(topic=None, latency_ms=1, brokers=None, sender='each-instant', flush_ms=None, failed_requests=())"
        ),
        pw.batching.simulate: (
            "(records, cluster, producer='sticky', *, workload=None, delivery=None, draws=None)"
        ),
        pw.batching.compare: "(records, cluster, strategies, *, workload=None, delivery=None)",
        pw.batching.tune: (
            "(records, cluster, strategies=('sticky',), *, workload=None, delivery=None, "
            "batch_sizes=(4096, 16384, 32768, 65536, 131072), lingers_ms=(0, 5, 10, 20, 50, 100), at_most_ms=None)"
        ),
        pw.batching.Tuning: "(settings, default, recommended, reason, at_most_ms, partitions)",
        pw.batching.replay: "(scenario)",
        pw.batching.Simulation: "(records, batches, requests, switches, summary)",
    }
    assert {function: plain(function) for function in promised} == promised


def test_the_signatures_of_reports_are_those_that_are_promised() -> None:
    """An answer's page, as text and as a file."""
    promised = {
        pw_report.page: "(answer)",
        pw_report.write: "(answer, file)",
        pw_report.notebook: "(answer)",
        pw_report.check: "(file)",
    }
    assert {function: plain(function) for function in promised} == promised


def test_a_noun_has_one_name_at_every_layer() -> None:
    """hashing: a module of the core, a binding file, a Python module, a test of each, a golden file and a bench."""
    for place in [
        "rust/core/src/hashing/mod.rs",
        "rust/py/src/hashing.rs",
        "python/partwright/keys/hashing.py",
        "tests/keys/test_hashing.py",
        "tests/golden/hashing.json",
        "benches/rust/hashing.rs",
        "benches/python/test_hashing.py",
    ]:
        assert (ROOT / place).is_file(), place


def test_the_key_types_and_clients_of_the_core_are_the_ones_that_the_documents_name() -> None:
    source = (ROOT / "rust/core/src/hashing/key_type.rs").read_text(encoding="utf-8")
    names = re.findall(r'Self::\w+ => "([a-z0-9:-]+)",', source.split("pub fn takes", 1)[0])
    assert len(names) == 15
    documented = re.findall(r"^\s*`([a-z0-9:-]+)`", pw.encode.__doc__ or "", re.MULTILINE)
    assert sorted(documented) == sorted(names)
    with pytest.raises(pw.PartwrightError) as refused:
        pw.encode("a", "no such type")
    assert ", ".join(names) in str(refused.value)


def test_the_package_says_that_it_is_typed() -> None:
    assert resources.files("partwright").joinpath("py.typed").is_file()
    assert resources.files("partwright").joinpath("_core.pyi").is_file()
