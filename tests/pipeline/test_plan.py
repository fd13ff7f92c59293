"""A run's plan of steps, read once from its options, and what the pipeline's functions may take; no Spark."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from partwright import pipeline
from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.context import Context
from partwright.pipeline.local_folders import ArrowFolders
from partwright.pipeline.local_targets import LocalTopic
from partwright.pipeline.parquet_folders import LocalFolders, ParquetFolders
from partwright.pipeline.parquet_target import RemoteFolders, SparkFolders, SparkLocalFolders, target_at
from partwright.pipeline.settings import KafkaTarget, ParquetTarget, RunSettings
from partwright.pipeline.spark_runner import SparkKind, SparkRunner
from partwright.pipeline.spark_targets import SparkTopic
from partwright.pipeline.targets import KafkaTopic, TargetState

if TYPE_CHECKING:
    from partwright.pipeline.ledger import RecordedRun

CONFIG = KafkaConfig.read({}, servers="127.0.0.1:9")
SINK, MISSING = "by Spark's sink", "what is missing, "
CHECKED = ["read back and check"]
PROVEN = [*CHECKED, "let the Java producer choose", "compare"]


def planned(earlier: object = None, **options: Any) -> list[tuple[str, str | None]]:
    settings = RunSettings(**{"target": KafkaTarget(CONFIG), **options})
    target = target_at(settings.target or KafkaTarget(CONFIG), "t", settings.new_topic, settings.rule)
    nothing = cast("Any", None)
    context = Context(
        settings,
        nothing,
        target,
        TargetState(),
        5,
        None,
        nothing,
        nothing,
        b"",
        cast("RecordedRun", earlier),
    )
    runner = SparkRunner(nothing, None)
    return [tuple(step) for step in context.plan(runner.how(context), proves=runner.proves)]


@pytest.mark.parametrize(
    ("options", "making", "writing", "after"),
    [
        ({}, "only if empty", SINK, PROVEN),
        ({"append": True}, "append", SINK, PROVEN),
        ({"exactly_once": True}, "only if empty", "in transactions", PROVEN),
        ({"resume": True, "earlier": "an earlier run"}, None, f"{MISSING}{SINK}", PROVEN),
        (
            {"resume": True, "exactly_once": True, "earlier": "an earlier run"},
            None,
            f"{MISSING}in transactions",
            PROVEN,
        ),
        # None is known, so it begins anew.
        ({"resume": True}, "only if empty", SINK, PROVEN),
        ({"proof": False}, "only if empty", SINK, CHECKED),
        ({"check": False}, "only if empty", SINK, []),
        ({"client": "sarama"}, "only if empty", SINK, CHECKED),
        ({"strategy": "round-robin"}, "only if empty", SINK, CHECKED),
    ],
)
def test_the_options_say_which_steps_a_run_takes(
    options: dict[str, Any], making: str | None, writing: str, after: list[str]
) -> None:
    made = [("make the topic", making)] if making else []
    steps = [("read and place", None), *made, ("write", writing), *((name, None) for name in after)]
    assert planned(**options) == steps


def test_folders_have_no_proof(tmp_path: Path) -> None:
    assert planned(target=ParquetTarget(tmp_path)) == [
        ("read and place", None),
        ("make the folder", "only if empty"),
        ("write", "by Spark"),
        ("read back and check", None),
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"check": False},
            (
                "--state here is where --resume finds a run, and without the header, which --no-check leaves out, none "
                "can go on: leave out one of them"
            ),
        ),
        (
            {"null_keys": "producer"},
            "--state needs to know where each record goes: leave out --null-keys producer",
        ),
    ],
)
def test_a_ledger_that_nobody_would_write_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        RunSettings(target=KafkaTarget(CONFIG), state="here", **options)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("option", ["exactly_once", "resume"])
def test_what_needs_the_header_keeps_it_without_a_check(option: str) -> None:
    settings = RunSettings(target=KafkaTarget(CONFIG), state="here", check=False, **{option: True})
    assert (settings.is_marked, settings.is_recorded) == (True, True)
    assert not RunSettings(target=KafkaTarget(CONFIG), check=False).is_marked


SOURCES = {
    path.name: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(Path(inspect.getfile(pipeline)).parent.glob("*.py"))
}


def test_few_functions_take_the_settings_as_a_whole() -> None:
    takers = [
        function.name
        for tree in SOURCES.values()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(
            each.annotation is not None and ast.unparse(each.annotation) == "RunSettings"
            for each in [*function.args.args, *function.args.kwonlyargs]
        )
    ]
    # The steps of a run and a stream, and what each runner refuses and reads.
    assert len(takers) <= 12, takers


def test_nobody_asks_a_target_what_it_is() -> None:
    kinds = {
        "KafkaTopic",
        "SparkTopic",
        "LocalTopic",
        "ParquetFolders",
        "LocalFolders",
        "SparkFolders",
        "SparkLocalFolders",
        "RemoteFolders",
        "ArrowFolders",
        "KafkaTarget",
        "ParquetTarget",
    }
    asked = [
        f"{name}:{call.lineno}"
        for name, tree in SOURCES.items()
        # Only there a target is made of what the options name.
        if name not in {"parquet_target.py", "local_folders.py"}
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) == "isinstance"
        and kinds & set(ast.unparse(call.args[1]).replace("|", " ").split())
    ]
    assert not asked


@pytest.mark.parametrize(
    "kind",
    [
        Context,
        KafkaTopic,
        SparkTopic,
        SparkKind,
        SparkRunner,
        LocalTopic,
        ParquetFolders,
        LocalFolders,
        SparkFolders,
        SparkLocalFolders,
        RemoteFolders,
        ArrowFolders,
        KafkaTarget,
        ParquetTarget,
    ],
)
def test_nothing_that_a_run_goes_by_changes(kind: type) -> None:
    assert dataclasses.is_dataclass(kind)
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
