"""The picture of a grid of settings: what is in it, that it is the same bytes each time, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pytest

import partwright as pw
from partwright.batching import Tuning, plot, tune

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = {
    "time": [number // 4 for number in range(4000)],
    "size": [50 + number % 300 for number in range(4000)],
}


def tuned(**options: Any) -> Tuning:
    return tune(RECORDS, {"orders": 6}, **{"at_most_ms": 30, **options})


def figure_of(found: Tuning) -> Any:
    rows = found.settings.to_pylist()
    return plot._figure(plot.Picture(rows, found.default, found.partitions, found.at_most_ms))


def texts(figure: Any) -> list[str]:
    """What the axes' labels on points say."""
    return [text.get_text() for text in figure.axes[0].texts]


def legend(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_each_setting_is_a_point_and_the_front_is_named() -> None:
    found = tuned()
    rows = found.settings.to_pylist()
    figure = figure_of(found)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("requests", "p99 delay in ms")
    assert axes.get_title().startswith("4,000 records over 6 partitions: ")
    points = [tuple(point) for dots in axes.collections[:-2] for point in dots.get_offsets()]
    assert sorted(points) == sorted((row["requests"], row["p99_delay_ms"]) for row in rows)
    front = sorted({(row["requests"], row["p99_delay_ms"]) for row in rows if row["is_on_front"]})
    line, limit = axes.lines
    assert list(zip(line.get_xdata(), line.get_ydata(), strict=True)) == front
    assert set(limit.get_ydata()) == {30}
    assert len(texts(figure)) == len(front)
    best = found.recommended
    same = sum(
        (row["requests"], row["p99_delay_ms"]) == (best["requests"], best["p99_delay_ms"]) for row in rows
    )
    more = f" (+{same - 1})" if same > 1 else ""
    assert f"{best['linger_ms']} ms, {best['batch_size']:,}{more}" in texts(figure)
    now, recommended = (dots.get_offsets()[0] for dots in axes.collections[-2:])
    assert tuple(now) == (found.default["requests"], found.default["p99_delay_ms"])
    assert tuple(recommended) == (best["requests"], best["p99_delay_ms"])
    assert legend(figure) == [
        *(f"batch.size={size:,}" for size in (4096, 16384, 32768, 65536, 131072)),
        "no other beats these: linger.ms, batch.size",
        "the limit, 30 ms",
        "as it is set now: linger.ms=5, batch.size=16,384",
        f"recommended: linger.ms={best['linger_ms']}, batch.size={best['batch_size']:,}",
    ]


def test_labels_cover_neither_each_other_nor_points() -> None:
    figure = figure_of(tuned())
    axes, renderer = figure.axes[0], figure.canvas.get_renderer()
    boxes = [mpl.text.Text.get_window_extent(text, renderer) for text in axes.texts]
    assert len(boxes) > 3
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
    for dots in axes.collections:
        for x, y in axes.transData.transform(dots.get_offsets()):
            assert not any(box.contains(x, y) for box in boxes)


def test_scales_are_of_powers_where_settings_lie_far_apart() -> None:
    axes = figure_of(tuned()).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    axes = figure_of(tuned(lingers_ms=[5, 10], latency_ms=5)).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    # 0 has no logarithm.
    assert figure_of(tuned(latency_ms=0)).axes[0].get_yscale() == "linear"


def test_several_strategies_are_told_apart() -> None:
    found = tuned(strategies=["sticky", "round-robin"], batch_sizes=[16384])
    named = legend(figure_of(found))
    assert {"sticky@4.4, batch.size=16,384", "round-robin, batch.size=16,384"} <= set(named)
    assert "as it is set now: sticky@4.4, linger.ms=5, batch.size=16,384" in named


def test_one_setting_is_a_picture() -> None:
    found = tune({"time": [0], "size": [1]}, {"t": 1}, batch_sizes=[16384], lingers_ms=[5], latency_ms=0)
    assert texts(figure_of(found)) == ["5 ms, 16,384"]


def test_records_that_never_arrive_leave_no_limit() -> None:
    partitions = [{"id": 0, "leader": 0}, {"id": 1, "leader": None}]
    cluster = pw.Cluster.from_dict({"brokers": [{"id": 0}], "topics": {"t": partitions}})
    found = tune({"time": [0, 0], "size": [1, 1], "partition": [0, 1]}, cluster)
    assert (found.at_most_ms, found.partitions) == (None, 2)
    assert len(figure_of(found).axes[0].lines) == 1


@pytest.mark.parametrize(
    ("name", "magic"),
    [("x.svg", b"<?xml"), ("x.PNG", b"\x89PNG"), ("x.pdf", b"%PDF")],
    ids=["svg", "png", "pdf"],
)
def test_the_same_settings_are_the_same_bytes(name: str, magic: bytes, tmp_path: Path) -> None:
    file = tmp_path / name
    # A dict of its own would look for a backend.
    before = mpl.rcParams.copy()
    tuned().plot(file)
    assert mpl.rcParams.copy() == before
    here = file.read_bytes()
    assert here.startswith(magic)
    # Another process, whose hashes and clock are others.
    program = f"""
import sys
from partwright.batching import tune
records = {{"time": [number // 4 for number in range(4000)], "size": [50 + number % 300 for number in range(4000)]}}
tune(records, {{"orders": 6}}, at_most_ms=30).plot({str(file)!r})
assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert file.read_bytes() == here


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("x.gif", "a picture is a .svg, .png or .pdf file by its suffix, not 'x.gif'"),
        ("svg", "a picture is a .svg, .png or .pdf file by its suffix, not 'svg'"),
        (7, "a picture is named by its path, not by 7"),
        (
            "no/such/folder/x.svg",
            "'no/such/folder/x.svg' cannot be written (No such file or directory): name another",
        ),
    ],
)
def test_a_refusal_is_one_sentence(file: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        tuned(batch_sizes=[16384]).plot(file)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(pw.MissingExtraError) as refused:
        tuned(batch_sizes=[16384]).plot(tmp_path / "x.svg")
    assert str(refused.value) == "matplotlib is missing: pip install 'partwright[plot]'"
