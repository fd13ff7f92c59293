"""A real Kafka beside the columns: the embedded broker, and partitioners for Python's own Kafka clients."""

from partwright.kafka.embedded import EmbeddedKafka
from partwright.kafka.partitioners import CallablePartitioner, ConfluentPartitioner, KafkaPythonPartitioner

__all__ = ["CallablePartitioner", "ConfluentPartitioner", "EmbeddedKafka", "KafkaPythonPartitioner"]
