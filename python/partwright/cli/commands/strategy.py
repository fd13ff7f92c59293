"""`partwright strategy`: a strategy's answers to given calls and draws, and where it puts records."""

from __future__ import annotations

import click

from partwright.cli.input.json import print_answers
from partwright.cli.input.options import json_always_option
from partwright.cli.parsing import OUTPUT, Command, flag, heading


@click.command("strategy", cls=Command)
@click.argument("file")
@heading("What to read")
@flag("--jsonl", "FILE has one replay per line, and each answer is one line.")
@heading(OUTPUT)
@json_always_option
def command(file: str, jsonl: bool) -> None:
    """Replay a producer's strategy: calls, records and random numbers in, partitions out.

    FILE is a replay in JSON, or - for stdin: {"strategy", "client", "configs": {Kafka's keys}, "brokers": [{"id",
    "rack"}], "topics": {name: [{"id", "leader"}]}, "draws": [...], "events": [...]}. A topic may also be just its
    number of partitions. "client" (default: java) names the client whose rule places keys, "seed" replaces the draws,
    and "counters" say where round robin begins. The strategies are explicit, key, round-robin, random, sticky,
    uniform-sticky, old-null-key, leader and field. NAME@VERSION is the strategy in that version of Kafka, and
    default@VERSION is that version's default; docs/strategies.md has them all.

    An event is {"op": OP, "topic": T} with the arguments of the call: partition (key in hex), on_new_batch and
    next_partition (prev), append (bytes, enable_switch), load_stats (queue_sizes, partition_ids, leader_racks, length),
    cluster (partitions). The answer is {"results": [...]}: partitions, null, or {"error"} where Kafka throws.

    Instead of "events" there may be "records", lists of topic, partition, key in hex, value size in bytes and time in
    milliseconds: they are put into batches as Kafka's RecordAccumulator does, and the answer is {"placed": [...]}.

    \b
    Exit code: 0 answered, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright strategy replay.json
      cat replays.jsonl | partwright strategy - --jsonl
    """
    from partwright.producer.replay import replay_strategy

    print_answers(file, replay_strategy, jsonl=jsonl)
