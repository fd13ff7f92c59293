"""Targets as this process writes and reads them: what each has to be able to, and a topic by one producer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

from partwright.kafka.marks import mark_in
from partwright.kafka.reading import Reading
from partwright.pipeline import local_writing
from partwright.pipeline.local_checks import ReadRecord
from partwright.pipeline.targets import KafkaTopic, Target

if TYPE_CHECKING:
    from partwright.kafka.marks import Mark
    from partwright.pipeline.context import Context
    from partwright.pipeline.local_placing import KeptRecords
    from partwright.pipeline.targets import Wrote


class FoundRecord(NamedTuple):
    """A record as it is there; its partition is None in the folder of those that are in none.

    Attributes:
        header: The mark of any run; None if it has none.
    """

    partition: int | None
    offset: int
    key: bytes | None
    value: bytes | None
    header: bytes | None


class LocalTarget(Target):
    """A target that this process writes and reads."""

    @abstractmethod
    def how(self, context: Context[LocalTarget]) -> str:
        """How it is written, in words."""

    @abstractmethod
    def write(self, context: Context[LocalTarget], kept: KeptRecords) -> Wrote:
        """Write the records that are not there yet."""

    @abstractmethod
    def records(self, *, committed: bool) -> Iterator[FoundRecord]:
        """What was written since `prepare`, each partition's records by offset."""

    def read(self, mark: Mark, *, committed: bool) -> Iterator[ReadRecord]:
        """The same, each with the row that this run's mark names."""
        prefix = mark.prefix
        for partition, offset, key, value, header in self.records(committed=committed):
            row = mark.row(header) if header is not None and header.startswith(prefix) else None
            yield ReadRecord(partition, offset, row, key, value, row is None and header is not None)

    def beside(self, name: str) -> LocalTopic | None:
        """See `Target.beside`."""
        del name
        return None


class LocalTopic(KafkaTopic, LocalTarget):
    """A topic, written by one producer."""

    def how(self, context: Context[LocalTarget]) -> str:
        """See `LocalTarget.how`."""
        what = "what is missing, " if context.earlier is not None else ""
        return f"{what}{'in transactions' if context.settings.exactly_once else 'by one producer'}"

    def write(self, context: Context[LocalTarget], kept: KeptRecords) -> Wrote:
        """See `LocalTarget.write`; what is there already shows by the marks."""
        return local_writing.write(
            self,
            kept,
            context.written_mark,
            in_transactions=context.settings.exactly_once,
            goes_on=context.earlier is not None,
        )

    def records(self, *, committed: bool) -> Iterator[FoundRecord]:
        """See `LocalTarget.records`; up to the partitions' present ends.

        Raises:
            BrokerError: See `Reading`.
        """
        # A topic that was made anew meanwhile is noticed by its records, and by `partitions_now`.
        reading = Reading(self.config, self.topic, self.windows(), committed=committed)
        for runs in reading.runs():
            for run in runs:
                for record in run.records:
                    yield FoundRecord(
                        run.partition, record.offset(), record.key(), record.value(), mark_in(record)
                    )

    def beside(self, name: str) -> Self:
        """See `Target.beside`."""
        return super().beside(name)
