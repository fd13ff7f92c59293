"""Words that the documents of several verbs share."""

from partwright.documents.sentences.figures import named, of_assumed, seconds, summed, time, times
from partwright.documents.sentences.placing import all_empty, of_reading

__all__ = ["all_empty", "named", "of_assumed", "of_reading", "seconds", "summed", "time", "times"]
