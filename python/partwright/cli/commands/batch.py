"""`partwright batch`: the batches and requests that a producer makes of given records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from partwright._check import Json
from partwright.cli.input.files import FileOptions, delimiter_option, format_option
from partwright.cli.input.json import answer_of, named, print_answers
from partwright.cli.input.options import (
    client_option,
    column_option,
    key_type_option,
    key_values,
    partitions_option,
    strategy_names,
)
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, first_given, flag, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    import pyarrow as pa

    from partwright.cli.output import Output


# A broker's ID has no more digits than this.
_MOST_DIGITS = 9
# Unlike a summary, the details of records and batches are kept in memory: for more records than this there is only a
# summary.
_MOST_RECORDS = 1_000_000
_COMPARED = ("sticky", "sticky@2.4", "round-robin", "round-robin@2.8")


# Numbers beyond a latency's bounds are refused elsewhere; here, those so long that Python reads them slowly.
_NUMBER = "([0-9]{1,19})"
_LATENCIES = (
    (re.compile(rf"{_NUMBER}\.\.{_NUMBER}"), ("from", "to")),
    (re.compile(rf"p50={_NUMBER},p99={_NUMBER}"), ("p50", "p99")),
)


def read_latency(text: str) -> int | dict[str, int] | None:
    """A broker's latency as `partwright.batching` takes it; None for any other text.

    Examples:
        >>> read_latency("5"), read_latency("1..9"), read_latency("p50=2,p99=40"), read_latency("5ms")
        (5, {'from': 1, 'to': 9}, {'p50': 2, 'p99': 40}, None)
    """
    if re.fullmatch(_NUMBER, text):
        return int(text)
    matches = ((form.fullmatch(text), names) for form, names in _LATENCIES)
    return next(
        (dict(zip(names, map(int, match.groups()), strict=True)) for match, names in matches if match), None
    )


def _latency(typed: str, spelling: str) -> int | dict[str, int]:
    latency = read_latency(typed)
    if latency is None:
        raise PartwrightError(
            f"{spelling} takes milliseconds, such as 5, 1..9 or p50=2,p99=40, not {typed!r}"
        )
    return latency


@click.command("batch", cls=Command)
@click.argument("file")
@heading("What to read")
@format_option(of="FILE", names="its name")
@delimiter_option()
@flag("--jsonl", "FILE has one scenario per line, and each answer is one line.")
@column_option("--time", "The column with the records' times.")
@column_option("--value", "The column with the records' values.")
@column_option("--size", "The column with the values' sizes in bytes, instead of --value.")
@column_option("--key", "The column with the records' keys (default: no keys).")
@column_option("--partition", "The column with the partition that a record itself names, if any.")
@heading("Where to place")
@partitions_option("The topic's number of partitions, when FILE has records.")
@key_type_option
@client_option("The client whose rule places keys.")
@repeated(
    "--strategy NAME",
    "The strategy: sticky, sticky@2.4, round-robin, round-robin@2.8 and so on; may be repeated (default: sticky).",
    "strategies",
    shell_complete=strategy_names,
)
@heading("How to simulate")
@flag("--compare", f"Compare {', '.join(_COMPARED)}.")
@flag("--tune", "Try pairs of batch.size and linger.ms, and recommend one for these records.")
@option(
    "--at-most-ms MS",
    "For --tune: the longest p99 delay allowed (default: twice that of today's settings).",
    type=click.IntRange(min=0),
)
@repeated(
    "--producer-property K=V",
    "A setting of the producer, such as batch.size=32768; may be repeated.",
    "properties",
)
@option(
    "--brokers B",
    "How many brokers there are; partition i is led by broker i mod B.",
    type=click.IntRange(min=1, max=10_000),
    default=1,
)
@option(
    "--latency-ms MS",
    "Milliseconds that a broker takes for a request: 5, or drawn from 1..9 (uniform), p50=2,p99=40 (log-normal).",
    read=_latency,
    default="1",
)
@repeated("--slow ID=MS", "A broker with another latency, such as 0=20 or 0=p50=2,p99=40; may be repeated.")
@option("--seed", "The seed of the strategies' draws.", default=0)
@output_options
def command(
    file: str,
    format_: str | None,
    delimiter: str | None,
    jsonl: bool,
    partitions: int | None,
    time: str | None,
    value: str | None,
    size: str | None,
    key: str | None,
    key_type: str | None,
    partition: str | None,
    strategies: tuple[str, ...],
    compare: bool,
    tune: bool,
    at_most_ms: int | None,
    client: str,
    properties: tuple[str, ...],
    brokers: int,
    latency_ms: int | dict[str, int],
    slow: tuple[str, ...],
    seed: int,
    output: Output,
) -> None:
    """Simulate a producer's batches: records with their times in, batches and requests out.

    With -n, FILE is a csv, JSON, Parquet, Arrow or Avro file of records, or - for stdin. The answer is a summary for
    each strategy: batches, requests, how full batches are, how long records take to be acknowledged, and how their
    bytes are spread over partitions.

    Without -n, FILE is a scenario in JSON, or - for stdin: {"strategy", "config": {Kafka's keys}, "sender", "brokers":
    [{"id", "rack", "latency_ms", "away": [[from, to]]}], "partitions": [{"id", "leader"}], "flush_ms",
    "failed_requests", "draws" or "seed", "records"}. A record is a list of its time in milliseconds, its key in hex,
    its own partition, the size of its value in bytes, and a list of its headers' sizes; null for whatever it lacks.
    The answer is JSON, {"placed": the partition and batch of each record, "batches", "requests"}; --output text shows
    it for people.

    Both are exact to Kafka's RecordAccumulator and Sender without compression: of 4.4 for sticky, of 3.9 for
    sticky@3.3, of 2.8 for sticky@2.4, uniform-sticky@2.4 and round-robin@2.8. No clock is read: all times come from the
    records, the latencies and the timers.

    \b
    Exit code: 0 answered, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright batch scenario.json
      cat scenarios.jsonl | partwright batch - --jsonl
      partwright batch orders.csv -n 12 --time ts --value body --compare
      partwright batch orders.parquet -n 12 --time ts --size bytes --brokers 3 --slow 0=p50=2,p99=200
      partwright batch orders.csv -n 12 --time ts --value body --tune --at-most-ms 50 --plot tuning.svg
    """
    columns = {"time": time, "key": key, "partition": partition, "value": value, "size": size}
    if partitions is None:
        of_records: Json = columns | {"format": format_, "delimiter": delimiter, "strategy": strategies}
        of_records |= {"producer-property": properties, "slow": slow, "compare": compare, "tune": tune}
        if strange := first_given(of_records):
            raise PartwrightError(
                f"--{strange} is for a file of records: give its number of partitions with -n"
            )
        _replay(file, output, jsonl=jsonl)
        return
    for is_refused, sentence in [
        (jsonl, "--jsonl is for scenarios, and -n for a file of records: give only one of them"),
        (strategies and compare, "--compare names its strategies itself: leave --strategy out"),
        (at_most_ms is not None and not tune, "--at-most-ms is for --tune: give both"),
        (time is None, "a simulation needs the records' times: name their column with --time"),
        (
            (value is None) == (size is None),
            "a simulation counts bytes: name the column of values with --value, or of their sizes with --size",
        ),
    ]:
        if is_refused:
            raise PartwrightError(sentence)
    from partwright import batching
    from partwright.batching.files import led_in_turn, reader
    from partwright.batching.simulation import Strategies
    from partwright.cli.progress import reading
    from partwright.producer.configs import ProducerConfig

    delivery = batching.Delivery(latency_ms=latency_ms, brokers=_latencies(slow))
    configs, cluster = key_values("--producer-property", properties), led_in_turn(partitions, brokers)
    names = _COMPARED if compare else strategies or ("sticky",)
    producers = [ProducerConfig(name, configs, client, seed=seed) for name in names]

    @contextmanager
    def records() -> Iterator[pa.RecordBatchReader]:
        with reading(file) as read:
            yield reader(FileOptions((file,), format_, delimiter).open, columns, key_type, read)

    if tune:
        with records() as rows:
            tuning = batching.tune(rows, cluster, producers, delivery=delivery, at_most_ms=at_most_ms)
        output.show(tuning, named(file))
        return
    with records() as rows:
        summary = batching.compare(rows, cluster, producers, delivery=delivery).summary
    simulation = None
    is_drawn = output.has_file or output.form == "html"
    # stdin cannot be read again.
    if is_drawn and file != "-" and summary["records"][0].as_py() <= _MOST_RECORDS:
        with records() as rows:
            simulation = batching.simulate(rows, cluster, producers[0], delivery=delivery)
    output.show(Strategies(summary, simulation), named(file))


def _replay(file: str, output: Output, *, jsonl: bool) -> None:
    """Answer a scenario, or one a line."""
    from partwright.batching.scenario import Replay, replay

    if not jsonl:
        # A scenario's answer is data.
        form = output.form if output.is_named else "json"
        output._replace(form=form).show(answer_of(file, Replay.of), named(file))
        return
    if output.has_file:
        raise PartwrightError("--report is for one scenario: leave out --jsonl")
    if output.form not in {"text", "json"}:
        raise PartwrightError(f"--jsonl prints JSON, and --output says {output.form}: leave one of them out")
    print_answers(file, replay, jsonl=True)


def _latencies(slow: tuple[str, ...]) -> dict[int, Json]:
    latencies = {}
    for broker, text in key_values("--slow", slow).items():
        latency = read_latency(text)
        if latency is None or not (broker.isdecimal() and len(broker) <= _MOST_DIGITS):
            raise PartwrightError(
                "--slow takes the id of a broker and its milliseconds, such as 0=20, 0=1..9 or 0=p50=2,p99=40, not "
                f"{f'{broker}={text}'!r}"
            )
        latencies[int(broker)] = {"latency_ms": latency}
    return latencies
