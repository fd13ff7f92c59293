"""Words that the documents of several verbs share."""

from partwright.documents.sentences.figures import ends, named, of_assumed, seconds, summed, time, times
from partwright.documents.sentences.placing import all_empty, of_reading

__all__ = ["all_empty", "ends", "named", "of_assumed", "of_reading", "seconds", "summed", "time", "times"]
