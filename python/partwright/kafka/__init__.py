"""A real Kafka beside the columns: the embedded broker, and what a topic says of itself."""

from partwright.kafka.embedded import EmbeddedKafka

__all__ = ["EmbeddedKafka"]
