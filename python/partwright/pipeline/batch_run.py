"""A run: read, place, write, read back, check each record, and let the Java producer place the same ones."""

from __future__ import annotations

import contextlib
import re
import secrets
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from partwright._check import all_of, counted
from partwright.cluster import Cluster
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.context import Context
from partwright.pipeline.journal import java_of_pid, journal_of, now_in_words
from partwright.pipeline.ledger import RecordedRun
from partwright.pipeline.report import PartitionShare, PlannedStep, Report, timed
from partwright.pipeline.resume import cannot_go_on, find_earlier
from partwright.pipeline.runner import ProofResult, R, T
from partwright.pipeline.settings import KafkaTarget, RunSettings
from partwright.pipeline.source import Source, find_source
from partwright.pipeline.targets import arrived, number_of_partitions
from partwright.pipeline.topic_source import what_was_read
from partwright.signals import Ended

if TYPE_CHECKING:
    from partwright.pipeline.journal import Journal
    from partwright.pipeline.report import Checks, Progress, Proof, RecordSums, RunStep
    from partwright.pipeline.resume import SourceFacts
    from partwright.pipeline.runner import Runner, RunnerKind
    from partwright.pipeline.targets import Target, Wrote


def run(
    settings: RunSettings, progress: Progress, kind: RunnerKind[T, R], source: Source | None = None
) -> Report:
    """Do one run.

    Args:
        settings: What to do.
        progress: Is told of each step.
        kind: What does the work.
        source: The source, if `kind` has inspected it.

    Returns:
        The report; its `ok` is False if a record is not where it belongs.

    Raises:
        PartwrightError: One sentence that says what is wrong with a source, a key, a topic or a broker, or what is and
            is not written if the write stopped.
    """
    with contextlib.ExitStack() as stack:
        context, runner, notes, begun = _begin(settings, progress, kind, source, stack)
        with runner.explained(lambda: _before(context)):
            read, reading = timed(progress, "read and place", lambda: _read(context, runner, stack))
            prepared, preparing = _prepare(context, read.sums, read.facts)
            records = read.sums.records
        with runner.explained(lambda: _while(context, prepared, records)):
            wrote, writing = timed(progress, "write", lambda: _write(context, runner, prepared, read))
        with (
            runner.explained(lambda: _after(prepared, records)),
            _explained(lambda: _after(prepared, records)),
        ):
            checked = _check(context, runner, prepared.target, read)
            n_now = prepared.target.partitions_now()
        losses = context.target.losses(context.source, in_transactions=settings.exactly_once)
        late = (
            f"{counted(wrote.late, 'record was', 'records were')} missing before the last ones in their partitions, as "
            "a delivery that timed out leaves them: they were written now, so keys of theirs may be out of order "
            "(--exactly-once leaves none out)"
        )
        return replace(
            _report(context, runner, read, checked),
            n_now=n_now,
            already_there=wrote.already_there,
            plan=(
                *(PlannedStep(step.name) for step in begun),
                *context.plan(runner.how(context), proves=runner.proves),
            ),
            steps=(*begun, reading, *preparing, writing, *checked.steps),
            notes=(
                *notes,
                *read.notes,
                *prepared.notes,
                *losses,
                *([late] if wrote.late else []),
                *checked.notes,
            ),
        )


def _begin(
    settings: RunSettings,
    progress: Progress,
    kind: RunnerKind[T, R],
    source: Source | None,
    stack: contextlib.ExitStack,
) -> tuple[Context[T], Runner[T, R], tuple[str, ...], tuple[RunStep, ...]]:
    """Find the source and the target, decide whether and how the run goes on, and start the runner.

    Notes about what happened before the first step follow, and what took time.

    The order matters: what can be refused before anything slow starts is refused then.
    """
    source = source or kind.inspect(find_source(settings), settings)
    to = settings.target
    starting: tuple[RunStep, ...] = ()
    if to is None:
        # Most runs write to a Kafka that is there.
        from partwright.kafka.embedded import EmbeddedKafka  # noqa: PLC0415

        kafka, step = timed(progress, "start Kafka", lambda: stack.enter_context(EmbeddedKafka()))
        to, starting = KafkaTarget(KafkaConfig.read({}, servers=kafka.bootstrap_servers)), (step,)
    target = kind.target_at(to, source.topic, settings.new_topic, settings.rule)
    journal = stack.enter_context(journal_of(str(target), kept=settings.target is not None))
    cleaned, cleaning = _clean(target, journal, progress)
    first = target.find_state()
    ledger = target.ledger(settings.state) if settings.is_recorded else None
    earlier = None
    if settings.resume and ledger is not None:
        earlier = find_earlier(ledger, settings, source, target, first)
        if earlier is None:
            cleaned += (f"no earlier run of {source.name} into {target} is known, so this one began anew",)
    if earlier is None:
        default = RunSettings.DEFAULT_PARTITIONS
        n = number_of_partitions(
            first, settings.asked_partitions, default, settings.append, str(target), journal.last()
        )
        target.foresee(n, first)
    else:
        n, source = earlier.n, source.within(earlier.windows)
    cluster = _cluster(target, settings.strategy, source.topic, n) if settings.is_by_strategy else None
    runner = stack.enter_context(kind.start(progress))
    own = secrets.token_bytes(8) if earlier is None else bytes.fromhex(earlier.run)
    context = Context(settings, source, target, first, n, cluster, journal, progress, own, earlier, ledger)
    context = replace(context, target=runner.open(context, stack))
    return context, runner, cleaned, (*starting, *cleaning, *runner.steps)


def _clean(
    target: Target, journal: Journal, progress: Progress
) -> tuple[tuple[str, ...], tuple[RunStep, ...]]:
    """Remove the topic that a killed run's proof left behind; notes about it, and the step."""
    notes = (journal.damage,) if journal.damage else ()
    name = journal.entry.proof if journal.entry else None
    topic = None if name is None else target.beside(name)
    if topic is None:
        return notes, ()
    if not topic.exists():
        journal.proof(None)
        return notes, ()
    left = f"the topic {name}, which an earlier run left behind as it was killed,"
    try:
        _, cleaning = timed(progress, f"remove the topic {name}, left behind by an earlier run", topic.delete)
    except PartwrightError as error:
        # A user may have the right to write to a topic but not to delete one; the run goes on without.
        return (*notes, f"{left} cannot be removed ({error}): delete it"), ()
    journal.proof(None)
    return (*notes, f"{left} was removed"), (cleaning,)


def _cluster(target: Target, strategy: str | None, topic: str, n: int) -> Cluster:
    """Where the partitions are, in the order in which Java's producer sees them; new ones count as having a leader."""
    cluster = target.cluster()
    if cluster is None and strategy == "leader":
        raise PartwrightError(
            f"the strategy leader goes by where the partitions' leaders are, and {target} has none yet: make the topic "
            "first"
        )
    return (cluster or Cluster.of({topic: n})).in_metadata_order()


def _read(context: Context[T], runner: Runner[T, R], stack: contextlib.ExitStack) -> R:
    """Read every record and place it."""
    read = runner.read(context, stack)
    if not read.sums.records:
        why = "no record with one of these keys" if context.settings.only_keys else "no records: it is empty"
        raise PartwrightError(f"{context.source.name} has {why}, nothing was written")
    return read


@dataclass(frozen=True)
class Prepared(Generic[T]):
    """A target that can be written to.

    Attributes:
        target: It.
        can_resume: Whether `--resume` could go on with this run.
        notes: Why not, if a ledger failed.
    """

    target: T
    can_resume: bool
    notes: tuple[str, ...] = ()


def _prepare(
    context: Context[T], sums: RecordSums, facts: SourceFacts | None
) -> tuple[Prepared[T], tuple[RunStep, ...]]:
    """Make the target ready, or find it as the earlier run left it, and record the run before its first record."""
    steps: tuple[RunStep, ...] = ()
    if context.earlier is not None:
        target = context.target.resume_run(context.earlier.begin)
    else:
        append = context.settings.append
        target, making = timed(
            context.progress,
            context.target.making,
            lambda: context.target.prepare(context.n, context.first, context.run, append=append),
        )
        steps = (making,)
    if context.ledger is None or facts is None:
        return Prepared(target, can_resume=False), steps
    recorded = _recorded(context, target, sums, facts)
    if context.earlier is not None:
        if changed := context.earlier.changed(recorded):
            raise cannot_go_on(context.earlier, changed)
        return Prepared(target, can_resume=True), steps
    try:
        context.ledger.write(recorded)
    except BrokerError as error:
        # A user may have the right to write to one topic but not to create another. If no broker answers, going on
        # makes no sense.
        if error.value is None:
            raise
        notes = (
            (
                "--resume could not have gone on with this run, because its ledger could not be written "
                f"({error}): --state FOLDER keeps it elsewhere"
            ),
        )
        return Prepared(target, can_resume=False, notes=notes), steps
    return Prepared(target, can_resume=True), steps


def _recorded(context: Context[T], target: Target, sums: RecordSums, facts: SourceFacts) -> RecordedRun:
    """The run as its ledger has it."""
    source, settings = context.source, context.settings
    return RecordedRun(
        run=context.run.hex(),
        topic=source.topic,
        topic_id=target.begun_id or "",
        source=source.identity,
        began=context.earlier.began if context.earlier else now_in_words(),
        n=context.n,
        options=settings.deciding(source.format, source.key),
        files=facts.files,
        windows=source.windows,
        cut=facts.cut,
        tasks=facts.tasks,
        records=sums.records,
        digest=sums.digest,
        begin=target.begin,
        exactly_once=settings.exactly_once,
    )


def _write(context: Context[T], runner: Runner[T, R], prepared: Prepared[T], read: R) -> Wrote:
    """Write what is not there yet."""
    records, target = read.sums.records, prepared.target
    context.journal.begin(context.run.hex(), records, java_of_pid(runner.java_pid))
    try:
        wrote = runner.write(context, target, read)
    except (Exception, KeyboardInterrupt) as error:
        interrupted = runner.interrupted
        written = f"{_written(context, target, records)}{_how_to_go_on(prepared)}"
        if interrupted or isinstance(error, KeyboardInterrupt):
            raise Ended(
                interrupted[0] if interrupted else signal.SIGINT,
                f"interrupted while writing to {target}: {written}",
            ) from None
        why = runner.sentence(error, context.source.topic)
        raise PartwrightError(f"writing to {target} stopped: {why}; {written}") from error
    context.journal.finish()
    return wrote


@dataclass(frozen=True)
class Checked:
    """What reading back found.

    Attributes:
        checks: It; None if nobody asked.
        partitions: Each partition's share.
        proof: The Java producer's choice; None if there is none.
        notes: Why not.
        steps: What took time.
    """

    checks: Checks | None
    partitions: tuple[PartitionShare, ...]
    proof: Proof | None = None
    notes: tuple[str, ...] = ()
    steps: tuple[RunStep, ...] = ()


def _check(context: Context[T], runner: Runner[T, R], target: T, read: R) -> Checked:
    """Read everything back, check each record, and let the Java producer place the same ones."""
    settings = context.settings
    if not settings.check:
        return Checked(None, read.sums.partitions)
    check_result, checking = timed(
        context.progress, "read back and check", lambda: runner.check(context, target, read)
    )
    if settings.dedupe is not None:
        _name_copies(settings.dedupe, runner.copies(context, target))
    check_result, partitions = _with_null_keys(check_result, read.sums.partitions)
    proof = ProofResult(None)
    if settings.proof and target.partitions_now() in {None, context.n}:
        proof = runner.proof(context, read)
    return Checked(check_result, partitions, proof.proof, proof.notes, (checking, *proof.steps))


def _name_copies(file_name: str, copies: Iterator[tuple[int, int]]) -> None:
    """Write the offsets of copies beyond each record's first."""
    try:
        with Path(file_name).open("w", encoding="utf-8") as file:
            file.write("partition,offset\n")
            file.writelines(f"{partition},{offset}\n" for partition, offset in copies)
    except OSError as error:
        raise PartwrightError(f"{file_name!r} cannot be written: {error.strerror}") from None


def _with_null_keys(
    check_result: Checks, given_to: tuple[PartitionShare, ...]
) -> tuple[Checks, tuple[PartitionShare, ...]]:
    """Add where the records are that the client does not place: known before, or found after the producer chose."""
    known = {part.partition: part.null_keys for part in given_to}
    read_null_keys = {part.partition: part.null_keys for part in check_result.partitions}
    if None in known.values():
        return check_result, tuple(
            replace(part, null_keys=read_null_keys.get(part.partition, 0)) for part in given_to
        )
    read = (
        part if part.partition is None else replace(part, null_keys=known.get(part.partition) or 0)
        for part in check_result.partitions
    )
    return replace(check_result, partitions=tuple(read)), given_to


def _report(context: Context[T], runner: Runner[T, R], read: R, checked: Checked) -> Report:
    """The report, without what the write itself has found."""
    settings, source, sums = context.settings, context.source, read.sums
    placed = sums.records - sums.unplaced
    keyed = sums.with_key if settings.strategy_name not in {None, "key"} else placed
    largest = max(part.records for part in checked.partitions)
    return Report(
        source=source.name,
        target=str(settings.target or "embedded Kafka"),
        topic=source.topic,
        client=settings.client,
        strategy=settings.strategy_name,
        producers=read.producers,
        n=context.n,
        records=sums.records,
        keyed=keyed,
        null_keys=sums.records - keyed,
        keys=sums.keys,
        bytes=sums.bytes,
        largest_share=largest / placed if placed else 0.0,
        partitions=checked.partitions,
        heaviest_keys=sums.heaviest_keys,
        steps=(),
        checks=checked.checks,
        proof=checked.proof,
        read=what_was_read(
            source,
            settings.bounds,
            sums.records,
            only_keys=len(settings.wanted_keys) or None,
            limit=settings.limit,
        ),
        log=str(runner.log) if runner.log else None,
        exactly_once=settings.exactly_once,
        resumed=context.earlier is not None,
        spreads_null_keys=context.spreads,
        is_marked=settings.is_marked,
    )


def _before(context: Context[T]) -> str:
    """How far a run is that has written nothing, in words that follow "it ended"."""
    hint = "; add --resume to go on" if context.earlier is not None else ""
    return f"before it wrote anything to {context.target}{hint}"


def _while(context: Context[T], prepared: Prepared[T], records: int) -> str:
    """How far a run is that is writing, in words that follow "it ended"."""
    written = _written(context, prepared.target, records)
    return f"while it wrote to {prepared.target}: {written}{_how_to_go_on(prepared)}"


def _after(prepared: Prepared[T], records: int) -> str:
    """How far a run is that has written everything, in words that follow "it ended"."""
    return (
        f"after {all_of(records, 'record was', 'records were')} written to {prepared.target}: what followed was not "
        f"done{_how_to_go_on(prepared)}"
    )


@contextlib.contextmanager
def _explained(standing: Callable[[], str]) -> Iterator[None]:
    """Add how far the run is to what a broker refuses; the error of the write itself says it already."""
    try:
        yield
    except BrokerError as error:
        raise BrokerError(f"{error}; this happened {standing()}", value=error.value) from error


def _how_to_go_on(prepared: Prepared[T]) -> str:
    if prepared.target.is_gone():
        return (
            "; the topic was deleted meanwhile, with all that was in it: if there is one of its name again, delete "
            "that too, and then run again"
        )
    return "; add --resume to go on" if prepared.can_resume else ""


def _written(context: Context[T], target: Target, records: int) -> str:
    """What is and what is not written, in words."""
    written = target.written()
    if written is None:
        return (
            f"how many of the {counted(records, 'record')} arrived is not known, for the broker does not answer: the "
            "next run looks before it writes"
        )
    if context.settings.exactly_once:
        # Transaction markers and aborted records have offsets too.
        whole = f"of {counted(records, 'record')}"
        committed = min(records, sum(written.values()))
        return f"at most {counted(committed, f'{whole} is', f'{whole} are')} committed, each once"
    # On one machine, Spark retries a task only if its master says how often, as local[2,4] does.
    return arrived(written, records, re.fullmatch(r"local(\[[^,]*\])?", context.settings.master) is None)
