"""`partwright stream` as a command: its own options, and what is refused before anything starts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import pytest

from partwright.cli.commands import run, stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TO = ["--to", "kafka://127.0.0.1:1", "--checkpoint", "c"]
STREAM = ["stream", "inbox", "--key", "k", *TO]


@pytest.fixture(autouse=True)
def _inbox(own_folder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del own_folder
    monkeypatch.setenv("PARTWRIGHT_STATE", str(tmp_path / "state"))
    (inbox := tmp_path / "inbox").mkdir()
    (inbox / "a.csv").write_text("k,v\na,1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def names(command: click.Command) -> set[str]:
    return {option.opts[0] for option in command.params if isinstance(option, click.Option)}


def test_each_command_has_the_options_that_make_sense_for_it() -> None:
    both = names(run.command) & names(stream.command)
    assert {
        "--key",
        "--to",
        "--client",
        "--strategy",
        "--seed",
        "--exactly-once",
        "--timestamp",
        "--append",
    } < both
    assert names(stream.command) - both == {
        "--checkpoint",
        "--available-now",
        "--every",
        "--follow-partitions",
        "--real-time",
    }
    assert names(run.command) - both == {
        *("--partition", "--field", "--null-keys", "--since", "--until", "--last", "--only-partitions"),
        *("--from-offsets", "--to-offsets", "--only-keys", "--only-keys-file", "--limit", "--proof"),
        *("--resume", "--state", "--dedupe", "--plot", "--runner"),
    }


def test_what_both_have_is_declared_once() -> None:
    """The same declarations, with the same words; only where records go and when they are checked differs."""
    of_run, of_stream = (
        {option.opts[0]: option.to_info_dict() for option in each.params if isinstance(option, click.Option)}
        for each in (run.command, stream.command)
    )
    differing = {name for name in of_run.keys() & of_stream.keys() if of_run[name] != of_stream[name]}
    assert differing == {"--to", "--check"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "inbox", "--key", "k", "--stream", *TO], "No such option '--stream'"),
        (["run", "inbox", "--key", "k", *TO], "No such option '--checkpoint'"),
        (["run", "inbox", "--key", "k", "--available-now"], "No such option '--available-now'"),
        ([*STREAM, "--limit", "3"], "No such option '--limit'"),
        ([*STREAM, "--resume"], "No such option '--resume'"),
        ([*STREAM, "--only-keys", "a"], "No such option '--only-keys'"),
        ([*STREAM, "--since", "0"], "No such option '--since'"),
        ([*STREAM, "--no-proof"], "No such option '--no-proof'"),
        ([*STREAM, "--plot", "a.svg"], "No such option '--plot'"),
        (["stream", *TO], "Missing argument 'SOURCE'"),
        (["stream", "inbox", "--key", "k", "--checkpoint", "c"], "Missing option '--to'"),
        (["stream", "inbox", "--key", "k", "--to", "kafka://127.0.0.1:1"], "Missing option '--checkpoint'"),
        (
            ["stream", "inbox", "--key", "k", "--to", "parquet:out", "--checkpoint", "c"],
            "a stream writes to a topic, not to parquet:out: name one with --to kafka://host:port",
        ),
        (
            ["stream", "inbox/a.csv", "--key", "k", *TO],
            "inbox/a.csv cannot become more: a stream reads a folder, or a topic",
        ),
        (
            [*STREAM, "--available-now", "--every", "3"],
            "--available-now ends after what is there, and --every goes on",
        ),
        ([*STREAM, "--every", "-1"], "--every takes seconds, 0 or more, not -1.0"),
        ([*STREAM, "--every", "nan"], "--every takes seconds, 0 or more, not nan"),
        *(
            (
                [*STREAM, "--real-time", duration],
                f"--real-time takes a duration such as '5 minutes', in weeks or smaller units, not {duration!r}",
            )
            for duration in (
                "abc",
                "",
                "5",
                "5minutes",
                "5 min",
                "1 month",
                "0 seconds",
                "-5 minutes",
                "1.5 minutes",
            )
        ),
        ([*STREAM, "--no-check"], "--no-check is for --available-now"),
        ([*STREAM, "--timestamp", "t"], "--timestamp t would be lost"),
        ([*STREAM, "--strategy", "field"], "name it with --field (partwright run)"),
        *(
            (
                [*STREAM, "--real-time", "5 minutes", *option],
                f"{option[0]} is for a stream in batches, and --real-time has none: leave one of them out",
            )
            for option in (
                ["--exactly-once"],
                ["--follow-partitions"],
                ["--available-now"],
                ["--every", "0"],
                ["--strategy", "sticky"],
            )
        ),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_starts(
    words: list[str], sentence: str, refusal: Callable[..., str], tmp_path: Path
) -> None:
    assert sentence in re.sub(r"\s+", " ", refusal(*words))
    # Neither Spark's log nor a note of the stream.
    assert not (tmp_path / "state").exists()


def test_a_kafka_that_does_not_answer_is_told_before_spark_starts(refusal: Callable[..., str]) -> None:
    told = re.sub(r"\s+", " ", refusal(*STREAM, "--topic", "t"))
    assert "no Kafka answers at 127.0.0.1:1" in told
    assert "start Spark" not in told
