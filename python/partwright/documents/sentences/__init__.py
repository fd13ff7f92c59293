"""Answers in words, the same in the terminal, on the page and in JSON: the verdict first, then the details."""

from partwright.documents.sentences.figures import named, of_assumed, seconds, summed, times
from partwright.documents.sentences.groups import of_assignment, of_comparison
from partwright.documents.sentences.led import of_clients, of_each_leader, of_roll, of_roll_order
from partwright.documents.sentences.migrating import lasting, of_migration
from partwright.documents.sentences.placing import (
    contract,
    of_check,
    of_meeting,
    of_reading,
    places,
    skew,
)
from partwright.documents.sentences.sending import of_run
from partwright.documents.sentences.sizes import of_advice, of_counts
from partwright.documents.sentences.writers import of_fingerprint, time

__all__ = [
    "contract",
    "lasting",
    "named",
    "of_advice",
    "of_assignment",
    "of_assumed",
    "of_check",
    "of_clients",
    "of_comparison",
    "of_counts",
    "of_each_leader",
    "of_fingerprint",
    "of_meeting",
    "of_migration",
    "of_reading",
    "of_roll",
    "of_roll_order",
    "of_run",
    "places",
    "seconds",
    "skew",
    "summed",
    "time",
    "times",
]
