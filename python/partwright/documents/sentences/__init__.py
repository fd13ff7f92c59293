"""Answers in words, the same in the terminal, on the page and in JSON: the verdict first, then the details."""

from partwright.documents.sentences.figures import named, of_assumed, seconds, summed, time, times
from partwright.documents.sentences.groups import (
    of_assignment,
    of_comparison,
    of_lives,
    of_rollout,
    of_timeline,
)
from partwright.documents.sentences.led import of_clients, of_each_leader, of_roll, of_roll_order
from partwright.documents.sentences.placing import all_empty, of_reading
from partwright.documents.sentences.sending import of_batches, of_scenario, of_tuning
from partwright.documents.sentences.sizes import of_advice, of_counts

__all__ = [
    "all_empty",
    "named",
    "of_advice",
    "of_assignment",
    "of_assumed",
    "of_batches",
    "of_clients",
    "of_comparison",
    "of_counts",
    "of_each_leader",
    "of_lives",
    "of_reading",
    "of_roll",
    "of_roll_order",
    "of_rollout",
    "of_scenario",
    "of_timeline",
    "of_tuning",
    "seconds",
    "summed",
    "time",
    "times",
]
