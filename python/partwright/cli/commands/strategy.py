"""`partwright strategy`: a strategy's answers to given calls and draws, and where it puts records."""

from __future__ import annotations

import click

from partwright.cli.input.json import print_answers
from partwright.cli.input.options import json_always_option

__all__ = ["command"]


@click.command("strategy")
@click.argument("file")
@click.option("--jsonl", is_flag=True, help="FILE has one replay per line, and each answer is one line.")
@json_always_option
def command(file: str, jsonl: bool) -> None:
    """Replay a producer's strategy: given calls, records and random numbers in, partitions out.

    FILE is a replay in JSON, or - for stdin: {"strategy", "client", "configs": {Kafka's keys}, "brokers": [{"id",
    "rack"}], "topics": {name: [{"id", "leader"}]}, "draws": [...], "events": [...]}. A topic may be its number of
    partitions; "client" (java by default) is whose rule places keys; "seed" stands for the draws, and "counters" say
    where round robin begins. The strategies are explicit, key, round-robin, random, sticky, uniform-sticky,
    old-null-key, leader and field; NAME@VERSION is what a version of Kafka does, and default@VERSION what it does where
    nothing is configured; docs/strategies.md has them all.

    An event is {"op": OP, "topic": T} with what the call takes: partition (key in hex), on_new_batch and next_partition
    (prev), append (bytes, enable_switch), load_stats (queue_sizes, partition_ids, leader_racks, length), cluster
    (partitions). The answer is {"results": [...]}, a partition, null, or {"error"} where Kafka throws.

    In the place of events there may be "records", lists of topic, partition, key in hex, size of the value and time in
    milliseconds: they are put into batches as Kafka's RecordAccumulator does, and the answer is {"placed": [...]}.

    \b
    Exit code: 0 answered, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright strategy replay.json
      cat replays.jsonl | partwright strategy - --jsonl
    """
    from partwright.producer.replay import replay

    print_answers(file, replay, jsonl=jsonl)
