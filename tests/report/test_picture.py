"""The picture of a grid of settings: its content, the same bytes each time, and each refusal."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright import report
from partwright.batching import Delivery, Tuning, tune
from partwright.documents import batch as figures
from partwright.kafka.throttles import Throttles
from partwright.keys.client_profiles import KeyPlacements, placements

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = {
    "time": [number // 4 for number in range(4000)],
    "size": [50 + number % 300 for number in range(4000)],
}


def tuned(**options: Any) -> Tuning:
    return tune(RECORDS, {"orders": 6}, **{"at_most_ms": 30, **options})


def layers(found: Tuning) -> list[dict[str, Any]]:
    """The plot's layers: the line, the points, the limit if there is one, and the marks."""
    (figure,) = figures.document(found).sections
    assert figure.spec is not None
    layered: list[dict[str, Any]] = figure.spec["layer"]
    return layered


def values(found: Tuning) -> list[dict[str, Any]]:
    (figure,) = figures.document(found).sections
    assert figure.spec is not None
    rows: list[dict[str, Any]] = figure.spec["data"]["values"]
    return rows


def test_each_setting_is_a_point_and_the_front_is_a_line() -> None:
    found = tuned()
    rows = found.settings.to_pylist()
    line, points, limit, rings, words = layers(found)
    assert sorted((each["requests"], each["p99_delay_ms"]) for each in values(found)) == sorted(
        (row["requests"], row["p99_delay_ms"]) for row in rows
    )
    assert points["encoding"]["x"]["title"] == "requests"
    assert points["encoding"]["y"]["title"] == "p99 delay, ms"
    assert points["encoding"]["color"]["scale"]["domain"] == [
        "4,096",
        "16,384",
        "32,768",
        "65,536",
        "131,072",
    ]
    front = sorted({(row["requests"], row["p99_delay_ms"]) for row in rows if row["is_on_front"]})
    assert [(each["requests"], each["p99_delay_ms"]) for each in line["data"]["values"]] == front
    assert limit["data"]["values"] == [{"level": 30}]
    best, now = found.recommended, found.default
    assert rings["data"] == words["data"]
    assert [(each["requests"], each["p99_delay_ms"], each["word"]) for each in words["data"]["values"]] == [
        (best["requests"], best["p99_delay_ms"], "take"),
        (now["requests"], now["p99_delay_ms"], "today"),
    ]


def test_scales_are_of_powers_where_settings_lie_far_apart() -> None:
    def scales(found: Tuning) -> tuple[str | None, str | None]:
        encoding = layers(found)[1]["encoding"]
        return encoding["x"]["scale"].get("type"), encoding["y"]["scale"].get("type")

    assert scales(tuned()) == ("log", "log")
    assert scales(tuned(lingers_ms=[5, 10], delivery=Delivery(latency_ms=5))) == (None, None)
    # 0 has no logarithm.
    assert scales(tuned(delivery=Delivery(latency_ms=0)))[1] is None


def test_several_strategies_are_told_apart() -> None:
    found = tuned(strategies=["sticky", "round-robin"], batch_sizes=[16384])
    shape = layers(found)[1]["encoding"]["shape"]
    assert (shape["field"], shape["legend"]) == ("strategy", {})
    assert {each["strategy"] for each in values(found)} == {"sticky@4.4", "round-robin"}
    assert layers(tuned())[1]["encoding"]["shape"]["legend"] is None


def test_one_setting_is_a_picture(tmp_path: Path) -> None:
    found = tune(
        {"time": [0], "size": [1]},
        {"t": 1},
        delivery=Delivery(latency_ms=0),
        batch_sizes=[16384],
        lingers_ms=[5],
    )
    found.save(tmp_path / "one.svg")
    assert ">keep<" in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_records_that_never_arrive_leave_no_limit() -> None:
    partitions = [{"id": 0, "leader": 0}, {"id": 1, "leader": None}]
    cluster = pw.Cluster.from_dict({"brokers": [{"id": 0}], "topics": {"t": partitions}})
    found = tune({"time": [0, 0], "size": [1, 1], "partition": [0, 1]}, cluster)
    assert (found.at_most_ms, found.partitions) == (None, 2)
    assert not [each for each in layers(found) if each["mark"]["type"] == "rule"]


def test_a_picture_says_what_it_is(tmp_path: Path) -> None:
    found = tuned()
    found.save(tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    shown = re.findall(r">([^<]+)<", text)
    assert "batch.size and linger.ms for 4,000 records" in shown
    assert {"take", "today", "requests", "p99 delay, ms", "batch.size"} <= set(shown)
    (figure,) = figures.document(found).sections
    assert figure.sentence.replace(" ", "") in "".join(shown).replace(" ", "")
    assert 'fill="white"' in text


def test_the_picture_of_any_answer_is_its_first_figure(tmp_path: Path) -> None:
    report.write(pw.assign({"t": 2}, {"c1": ["t"]}), tmp_path / "x.svg")
    assert "Who reads what" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    with pytest.raises(pw.PartwrightError, match=r"^there is no report of a dict: "):
        report.write({}, tmp_path / "y.svg")
    assert not (tmp_path / "y.svg").exists()


def test_a_full_disk_leaves_the_picture_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "x.svg"
    answer = pw.assign({"t": 2}, {"c1": ["t"]})
    before = answer.save(file).read_bytes()
    monkeypatch.setattr("partwright.folders.os.fsync", full)
    with pytest.raises(pw.PartwrightError, match=r"cannot be written \(No space left on device\)"):
        pw.assign({"t": 3}, {"c1": ["t"]}).save(file)
    assert (file.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (before, ["x.svg"])


def test_a_pdf_is_whole(tmp_path: Path) -> None:
    # Vega names its parts in another order each time, so its bytes differ.
    tuned().save(tmp_path / "x.pdf")
    drawn = (tmp_path / "x.pdf").read_bytes()
    assert drawn.startswith(b"%PDF-")
    assert drawn.rstrip().endswith(b"%%EOF")
    assert drawn.count(b"/Type/Page\n") + drawn.count(b"/Type /Page\n") == 1


@pytest.mark.parametrize(("name", "magic"), [("x.svg", b"<svg"), ("x.PNG", b"\x89PNG")], ids=["svg", "png"])
def test_the_same_settings_are_the_same_bytes(name: str, magic: bytes, tmp_path: Path) -> None:
    file = tmp_path / name
    # Vega keeps counting from picture to picture.
    assert report.page(tuned()).startswith("<!DOCTYPE html>")
    tuned().save(file)
    here = file.read_bytes()
    assert here.startswith(magic)
    # Another process, with other hashes and another clock.
    program = f"""
from partwright.batching import tune
records = {{"time": [number // 4 for number in range(4000)], "size": [50 + number % 300 for number in range(4000)]}}
tune(records, {{"orders": 6}}, at_most_ms=30).save({str(file)!r})
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert file.read_bytes() == here


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (
            "x.gif",
            "an answer is written as .html, .md, .json, .svg, .png or .pdf by its suffix, not as 'x.gif'",
        ),
        ("svg", "an answer is written as .html, .md, .json, .svg, .png or .pdf by its suffix, not as 'svg'"),
        (7, "an answer's file is named by its path, not by 7"),
        (
            "no/such/folder/x.svg",
            "'no/such/folder/x.svg' cannot be written (No such file or directory): name another",
        ),
    ],
)
def test_a_refusal_is_one_sentence(file: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        tuned(batch_sizes=[16384]).save(file)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "partwright.rendering.picture.find_spec", lambda name: None if name == "vl_convert" else find(name)
    )
    with pytest.raises(pw.MissingExtraError) as refused:
        tuned(batch_sizes=[16384]).save(tmp_path / "x.svg")
    assert str(refused.value) == "vl_convert is missing: pip install 'partwright[report]'"


def test_an_answer_without_a_plot_is_refused(tmp_path: Path) -> None:
    for answer in (Throttles({}, ()), KeyPlacements("a", 3, tuple(placements("a", 3)))):
        with pytest.raises(pw.PartwrightError, match="there is nothing to draw"):
            answer.save(tmp_path / "a.svg")
