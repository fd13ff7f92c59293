"""Answers as frames of pandas and polars, as Arrow and as a page; and the package's names."""

from __future__ import annotations

import re
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partwright as pw
from partwright import spark as pws
from partwright.assignors.comparison import compare
from partwright.assignors.mixed.group_leaders import LeaderAnswer
from partwright.audit.resize import Resize
from partwright.cluster import advise
from partwright.documents import document
from partwright.keys.client_profiles import KeyPlacements, placements
from partwright.keys.coordinators import Coordination, broker_kind_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.answer import Answer


def resize() -> Answer:
    found = Resize(2, 3)
    found.add(["a", "b", None])
    return found


KEYS = [f"user-{row}" for row in range(300)]
WRITTEN = {"user": KEYS, "partition": pw.partition_for_key(KEYS, 12)}
ANSWERS: dict[str, Callable[[], Answer]] = {
    "assign": lambda: pw.assign({"t": 3}, ["c1", "c2"]),
    "compare": lambda: compare({"t": 3}, ["c1", "c2"]),
    "group": lambda: pw.group.play({"topics": {"t": 2}, "events": "+2, -1"}),
    "which": lambda: KeyPlacements("a", 12, tuple(placements("a", 12))),
    "resize": resize,
    "check": lambda: pw.check({"user": [f"user-{row}" for row in range(999)]}, "user", 500),
    "fingerprint": lambda: pw.fingerprint(WRITTEN, "user", partition="partition"),
    "copartition": lambda: pw.copartition(WRITTEN, WRITTEN, "user", partition="partition"),
    "advise": lambda: advise(100),
    "reassign": lambda: pw.cluster.reassign(pw.Cluster([1, 2], {"t": 4}), add=[3]),
    "batch": lambda: pw.batching.simulate({"time": [0.0, 1.0], "size": [9, 9]}, {"t": 2}),
    "coordinator": lambda: Coordination(
        "g", "__consumer_offsets", broker_kind_named("kafka"), 1, {"n": 50, "partition": 1}, None
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_a_frame_and_a_page(name: str) -> None:
    answer = ANSWERS[name]()
    table = answer.to_arrow()
    frame, other = answer.to_pandas(), answer.to_polars()
    assert (type(frame), type(other)) == (pd.DataFrame, pl.DataFrame)
    assert table.column_names == list(frame.columns) == other.columns
    assert table.num_rows == len(frame) == other.height
    assert pa.table(answer).equals(table)
    assert answer.to_html().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answers_repr_is_its_summary_in_one_line(name: str) -> None:
    answer = ANSWERS[name]()
    shown = repr(answer)
    assert shown.startswith(f"<{type(answer).__name__}: ")
    assert "\n" not in shown
    assert len(shown) <= 360
    sentences = " ".join(verdict.text for verdict in document(answer).verdicts)
    assert " ".join(sentences.split()).startswith(shown.split(": ", 1)[1].rstrip("…>"))
    assert document(answer).verdicts[0].text[:40].strip() in str(answer).splitlines()[0]


def test_an_answer_that_has_no_document_has_a_repr_all_the_same() -> None:
    failed = LeaderAnswer("c1", "range", error="it dies")
    assert repr(failed) == "<LeaderAnswer: it dies>"
    assert str(failed) == "it dies"


def test_whole_numbers_with_nulls_stay_whole() -> None:
    placed = KeyPlacements("", 12, tuple(placements("", 12)))
    frame = placed.to_pandas()
    assert frame["partition"].isna().any()
    assert frame["partition"].dtype == pd.Int64Dtype()


def test_the_comparison_of_assignors_is_a_table_with_one_row_for_each() -> None:
    frame = compare({"t": 3, "u": 3}, ["c1", "c2"]).to_pandas().set_index("assignor")
    assert frame.loc["range", ["fewest", "most", "mean", "topic_spread"]].tolist() == [2, 4, 3.0, 1]
    assert frame["error"].isna().all()


@pytest.mark.parametrize(
    ("module", "name", "hint"),
    [
        (pw, "partition", "did you mean 'partition_for_key'?"),
        (pw, "detect", "did you mean 'fingerprint'?"),
        (pw, "how_many_partitions", "did you mean 'advise'?"),
        (pw, "repartition", "did you mean 'resize'?"),
        (pw, "chek", "did you mean 'check'?"),
        (pw, "xyzzy", "there are advise, assign, "),
        (pws, "repartition", "did you mean 'kafka_layout'?"),
        (pws, "partition", "did you mean 'partition_for_key'?"),
        (pws, "chek", "did you mean 'check'?"),
    ],
)
def test_a_name_that_is_not_there_leads_to_the_one_that_was_meant(
    module: ModuleType, name: str, hint: str
) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute {name!r}: {re.escape(hint)}"):
        getattr(module, name)


def test_completion_shows_the_names_of_spark_alone() -> None:
    assert [name for name in dir(pws) if not name.startswith("__")] == sorted(pws.__all__)


def test_the_packages_names_are_the_same_whatever_was_imported() -> None:
    def names(before: str) -> str:
        code = f"import partwright as pw; {before}; print(dir(pw))"
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    many = "import partwright.polars, partwright.kafka, partwright.cluster.sizing; pw.murmur2('a'); pw.__version__"
    assert names("pass") == names(many)
    assert {name for name in dir(pw) if not name.startswith("_")} == set(pw.__all__)
