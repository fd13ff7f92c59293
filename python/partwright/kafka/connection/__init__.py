"""The client configuration: one set of settings, with Java's names or librdkafka's, for every client."""

from __future__ import annotations

from partwright.kafka.connection.config import KafkaConfig
from partwright.kafka.connection.tls import TlsMaterial

__all__ = ["KafkaConfig", "TlsMaterial"]
