"""An answer in a notebook: a piece of HTML with pictures, the same bytes each time, and harmless."""

from __future__ import annotations

import importlib.util
from typing import Any
from xml.etree import ElementTree as ET

import html5lib
import pytest

import partwright as pw
from partwright.documents import check, group
from partwright.rendering.document import Column, Section
from partwright.rendering.svg import svg_picture

HOSTILE = "<script>alert(1)</script>\u202e"


def answers() -> list[Any]:
    import pyarrow as pa
    from fingerprinting import fingerprint

    from partwright.audit import Resize
    from partwright.audit.check import Check

    keys = pa.array([HOSTILE, *(f"k{place}" for place in range(100))])
    checked, plan = Check(3), Resize(3, 4)
    checked.add(keys)
    plan.add(keys)
    records = {"time": list(range(50)), "size": [100] * 50}
    return [
        checked,
        plan,
        fingerprint(keys, pw.partition_for_key(keys, 3)),
        pw.assign({"t": 3}, {HOSTILE: ["t"]}),
        pw.group.play({"topics": {"t": 2}, "events": "+2"}),
        pw.batching.simulate(records, {"t": 2}),
        pw.batching.tune(records, {"t": 2}),
    ]


@pytest.mark.parametrize("place", range(7))
def test_an_answer_shows_itself(place: int) -> None:
    answer = answers()[place]
    found = answer._repr_html_()
    assert found == answers()[place]._repr_html_()
    assert "<svg" in found
    assert "<script" not in found
    assert "\u202e" not in found
    assert len(found) < 300_000
    html5lib.HTMLParser(strict=True).parseFragment(found)


def test_without_the_extra_a_notebook_shows_words_and_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "partwright.rendering.picture.find_spec", lambda name: None if name == "vl_convert" else find(name)
    )
    for answer in answers():
        found = answer._repr_html_()
        assert "<svg" not in found
        html5lib.HTMLParser(strict=True).parseFragment(found)
    found = pw.assign({"t": 3}, {"c1": ["t"]})._repr_html_() or ""
    assert "<details open>" in found
    assert "<td>c1</td>" in found


def test_a_picture_has_a_mark_for_each_datum() -> None:
    timeline = pw.group.play({"topics": {"t": 3}, "events": "+2, x1"})
    for figure in group.document(timeline).sections:
        drawn = ET.fromstring(svg_picture(figure))  # noqa: S314 - ours
        marks = [
            part
            for part in drawn.iter("{http://www.w3.org/2000/svg}g")
            if "main_marks" in part.get("class", "") and "role-mark" in part.get("class", "")
        ]
        assert sum(len(part) for part in marks) == (figure.marks or len(figure.rows)) > 0


def test_what_is_not_drawn_is_no_picture() -> None:
    assert svg_picture(Section("one", "One", "One.", None, (Column("a", "a"),), ())) == ""
    assert check.heaviest([], 0, "rows").spec is None
