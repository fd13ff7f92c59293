"""How a Kafka is reached: one configuration in Java's names or librdkafka's, for every client there is here."""

from __future__ import annotations

from partwright.kafka.connection.config import KafkaConfig
from partwright.kafka.connection.tls import TlsMaterial

__all__ = ["KafkaConfig", "TlsMaterial"]
