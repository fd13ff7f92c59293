"""Answers in words, the same in the terminal, on the page and in JSON: the verdict first, then the details."""

from partwright.documents.sentences.figures import named, of_assumed, seconds, summed, time, times
from partwright.documents.sentences.groups import (
    of_lives,
    of_rollout,
    of_timeline,
)
from partwright.documents.sentences.placing import all_empty, of_reading
from partwright.documents.sentences.sending import of_batches, of_scenario, of_tuning

__all__ = [
    "all_empty",
    "named",
    "of_assumed",
    "of_batches",
    "of_lives",
    "of_reading",
    "of_rollout",
    "of_scenario",
    "of_timeline",
    "of_tuning",
    "seconds",
    "summed",
    "time",
    "times",
]
