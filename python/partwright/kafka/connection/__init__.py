"""The client configuration: one set of settings, with Java's names or librdkafka's, for every client."""

from __future__ import annotations

from partwright.kafka.connection.config import KafkaConfig, KafkaConfigLike, configured

__all__ = ["KafkaConfig", "KafkaConfigLike", "configured"]
