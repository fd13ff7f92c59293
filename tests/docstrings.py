"""The examples of docstrings, found in the installed package: each is run, or listed with the reason why not."""

from __future__ import annotations

import doctest
import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Examples that no test can run, by docstring.
SKIPPED = {
    "partwright.kafka.embedded_detached.start": "its broker stays when the tests are done",
    "partwright.kafka.jars.jar_files": "it fetches 19 files, of which the tests of Spark take what they need",
    "partwright.kafka.partitioners.KafkaPythonPartitioner": "its producer needs a broker, and to be closed",
    "partwright.spark.streams.stream_writer.write_stream": "it needs Spark and a broker; test_write_stream.py has both",
    "partwright.spark.topic.read_topic": "it needs Spark and a broker; tests/spark/test_read_topic.py has both",
    "partwright.spark.sessions.session": "it ends the session that the other tests share",
}
# Examples that tests/kafka runs with its own broker; all others run without one.
AT_A_BROKER = {
    "partwright.cluster.metadata.Cluster.from_kafka",
    "partwright.kafka.assignors.kafka_python_assignor",
    "partwright.kafka.groups.coordinator",
    "partwright.kafka.embedded.EmbeddedKafka",
    "partwright.kafka.groups.any_group",
    "partwright.kafka.metadata.live_cluster",
    "partwright.kafka.partitioners.ConfluentPartitioner",
    "partwright.kafka.records.TopicRecords",
    "partwright.kafka.topics.differences",
    "partwright.kafka.topics.create_topic",
    "partwright.kafka.topics.end_offsets",
    "partwright.kafka.topics.partition_count",
}


def modules() -> list[str]:
    """The modules whose source has an example; this imports none of them."""
    spec = find_spec("partwright")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(root.parent).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def docstrings(module: str) -> Iterator[doctest.DocTest]:
    """A module's docstrings that have examples."""
    for found in doctest.DocTestFinder().find(importlib.import_module(module)):
        if found.examples:
            yield found


def is_skipped(found: doctest.DocTest) -> bool:
    """Whether one of a docstring's examples is only shown, not run."""
    return any(each.options.get(doctest.SKIP) for each in found.examples)


def run(found: doctest.DocTest, names: Mapping[str, Any] | None = None) -> None:
    """Run a docstring's examples, with `names` defined."""
    found.globs.update(names or {})
    said: list[str] = []
    failed, attempted = doctest.DocTestRunner().run(found, out=said.append)
    assert attempted > 0
    assert not failed, "".join(said)
