"""The throttles that an interrupted execution has left, which are removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.documents.sentences import summed
from partwright.rendering.document import Document, Verdict

if TYPE_CHECKING:
    from partwright.kafka.throttles import Throttles

__all__ = ["document"]


def document(throttles: Throttles) -> Document:
    """What was removed."""
    text = "No broker and no topic has a throttle: nothing is removed."
    if throttles.rates or throttles.topics:
        text = f"Removed: {throttles}; what Kafka still moves has no limit now."
    verdicts = (Verdict("said", text),)
    return Document("Throttles", verdicts, (), summed(verdicts, throttles.to_dict()))
