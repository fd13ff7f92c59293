"""A real Kafka: the embedded broker, and partitioners and assignors for Python's Kafka clients."""

from partwright.kafka.assignors import kafka_python_assignor
from partwright.kafka.embedded import EmbeddedKafka
from partwright.kafka.partitioners import CallablePartitioner, ConfluentPartitioner, KafkaPythonPartitioner

__all__ = [
    "CallablePartitioner",
    "ConfluentPartitioner",
    "EmbeddedKafka",
    "KafkaPythonPartitioner",
    "kafka_python_assignor",
]
