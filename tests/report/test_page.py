"""The page as text: harmless whatever strangers wrote, without network, small, and as accessible as text can be."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import html5lib
import pytest
from recorded.saved_answers import SAVED

import partwright as pw
from partwright import report
from partwright.answer import Question
from partwright.keys.client_profiles import KeyPlacements, placements
from partwright.rendering.document import Column, Document, Section, Verdict
from partwright.rendering.html import MOST_BYTES, html_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def document(**changed: Any) -> Document:
    figure = Section(
        id="one",
        title="One",
        sentence="One is seen.",
        spec=None,
        columns=(Column("name", "name", "text"), Column("count", "count")),
        rows=({"name": changed.pop("name", "a"), "count": changed.pop("count", 1)},),
    )
    given = {
        "title": "A",
        "verdicts": (Verdict("said", "it is so"),),
        "sections": (figure,),
        "answer": {"a": 1},
        "question": Question((), "check"),
    }
    return Document(**{**given, **changed})


def test_a_page_is_html(name: str, page: Callable[[str], Path]) -> None:
    text = page(name).read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(text)


def test_a_page_asks_for_nothing_and_is_small(
    name: str, page: Callable[[str], Path], read: Callable[[str], Any]
) -> None:
    found = read(name)
    # Without a large table.
    most = 300_000 if sum(map(len, found.tables.values())) < 200 else MOST_BYTES
    assert page(name).stat().st_size < most
    assert all(link.startswith("#") for link in found.links)
    assert not {"link", "img", "iframe", "object", "embed", "form", "base"} & set(found.tags)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', found.text)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert not re.search(r"@import|url\(", found.text.split("</style>")[0])


def test_a_page_has_landmarks_and_labels(read: Callable[[str], Any]) -> None:
    found = read("check")
    assert '<html lang="en">' in found.text
    assert {"header", "main", "nav", "footer", "caption", "title"} <= set(found.tags)
    assert found.text.count('role="img"') == len(found.plots)
    assert found.text.count('<th scope="col"') == sum(len(rows[0]) for rows in found.tables.values())
    assert 'class="skip" href="#verdict"' in found.text
    assert "prefers-color-scheme" in found.text
    assert "@media print" in found.text


def test_a_verdict_has_its_mark(read: Callable[[str], Any]) -> None:
    text = read("check").text
    assert re.search(r'<p class="fails summary"><span class="mark">✗ </span>\d+ of 3,000 records', text)
    assert re.search(
        r'<p class="fails"><span class="mark">✗ </span>Partition \d+ has [\d.]+% of the rows', text
    )
    assert '<p class="holds summary"><span class="mark">✓ </span>The 1 record is' in read("check-one").text


def test_what_strangers_wrote_is_harmless(read: Callable[[str], Any]) -> None:
    found = read("check-hostile")
    # Two scripts of the page, and one of JSON.
    assert found.tags.count("script") == 3
    assert "img" not in found.tags
    for hidden in ("\u202e", "\0", "\u2028", "\t"):
        assert hidden not in found.text.split("<script")[0]
    assert "49" not in [cell for row in found.tables["heavy-keys"] for cell in row]
    keys = [row[0] for row in found.tables["heavy-keys"][1:]]
    assert "<script>alert(1)</script>" in keys
    assert 'a"b' in keys
    assert sum(key == "x" * 49 + "…" + "x" * 50 + " (10,000 characters)" for key in keys) == 1
    assert sum(key == "x" * 49 + "…" + "x" * 49 + "y (10,001 characters)" for key in keys) == 1


@pytest.mark.parametrize("text", ["\u202eevil", "a\0b", "\udc80", "\u2066x", "line\nbreak"])
def test_hidden_characters_are_written_out(text: str) -> None:
    page = html_page(
        document(name=text, title=f"of {text}", answer={text: text}, question=Question((), "check", text))
    )
    page.encode()
    head = page.split("<script")[0]
    for hidden in text:
        if not hidden.isprintable() and hidden != "\n":
            assert hidden not in head
            assert f"\\u{ord(hidden):04x}" in head
    assert json.loads(page.split('data-name="check.json">')[1].split("</script>")[0]) == {text: text}


def test_json_that_is_too_large_is_left_out_and_the_page_says_so() -> None:
    page = html_page(document(answer={"keys": ["x" * 100] * 60_000}))
    assert len(page.encode()) < MOST_BYTES
    assert 'id="answer"' not in page
    assert 'id="download"' not in page
    assert "The JSON of 6,180,010 bytes is not in the page" in page
    assert "partwright check --json prints it" in page


def test_numbers_that_json_lacks_are_null() -> None:
    page = html_page(document(answer={"a": float("inf"), "b": [float("nan"), 1.5]}))
    assert '{"a":null,"b":[null,1.5]}' in page


def test_the_same_answer_is_the_same_page() -> None:
    played = [pw.group.play({"topics": {"t": 3}, "events": "+2, -1"}) for _ in range(2)]
    assert report.page(played[0]) == report.page(played[1])


def test_each_kind_of_answer_has_a_page(tmp_path: Path) -> None:
    import pyarrow as pa
    from fingerprinting import fingerprint

    from partwright.audit import Resize
    from partwright.audit.check import Check

    keys = pa.array([f"k{place}" for place in range(100)])
    checked, plan = Check(3), Resize(3, 4)
    checked.add(keys)
    plan.add(keys)
    records = {"time": list(range(50)), "size": [100] * 50}
    answers = [
        checked,
        plan,
        fingerprint(keys, pw.partition_for_key(keys, 3)),
        pw.assign({"t": 3}, {"c1": ["t"]}),
        pw.group.play({"topics": {"t": 2}, "events": "+2"}),
        pw.batching.simulate(records, {"t": 2}),
        pw.batching.tune(records, {"t": 2}),
    ]
    for answer in answers:
        file = report.write(answer, tmp_path / "page.html")
        assert file.read_text(encoding="utf-8") == report.page(answer)
    both = pw.group.compare({"topics": {"t": 2}, "events": "+2"})
    assert "under each protocol" in report.page(both)
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(("client", "state"), [("java", "holds"), ("librdkafka", "fails")])
def test_two_tables_have_a_page_of_whether_they_meet(client: str, state: str) -> None:
    import pyarrow as pa

    from partwright.audit.check import Placer
    from partwright.audit.copartition import JoinedKeys, add_placed, meet
    from partwright.audit.key_sums import Observed
    from partwright.documents import copartition

    a, b = Observed(), Observed()
    add_placed(a, Placer(12), pa.array([f"k{place}" for place in range(100)]))
    add_placed(b, Placer(12, client), pa.array([f"k{place}" for place in range(10, 130)]))
    found = meet(JoinedKeys(a, 12, "java"), JoinedKeys(b, 12, client))
    told = copartition.document(found)
    assert [told.verdicts[0].state, told.answer.pop("summary")] == [state, told.verdicts[0].text]
    assert told.answer == found.to_dict()
    shown = {section.id: section for section in told.sections}
    assert list(shown)[:2] == ["sides", "keys"]
    keys, apart = shown["keys"], [shown["apart"]] if "apart" in shown else []
    assert [row["keys"] for row in keys.rows] == [found.keys_meeting, 90 - found.keys_meeting, 10, 30]
    shown = [row for figure in apart for row in figure.rows]
    assert [(row["key"], row["a"], row["b"]) for row in shown] == [
        (each.key, str(each.a[0]), str(each.b[0])) for each in found.examples
    ]
    assert bool(shown) is (state == "fails")
    html5lib.HTMLParser(strict=True).parse(report.page(found))


@pytest.mark.parametrize("name", ["run", "run-lost", "stream"])
def test_a_run_and_a_stream_have_every_form(name: str, tmp_path: Path) -> None:
    answer = SAVED[name]
    page = report.write(answer, tmp_path / "page.html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(page)
    summary = report.document(answer).verdicts[0].text
    assert summary in page
    assert summary in (report.write(answer, tmp_path / "page.md")).read_text(encoding="utf-8")
    read = json.loads(report.write(answer, tmp_path / "page.json").read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps({"summary": summary, **answer.to_dict()}))


@pytest.mark.parametrize(
    ("changed", "state", "words"),
    [
        ({}, "holds", "All 3,187 records of inbox are in topic orders, 7 partitions, each where it belongs,"),
        (
            {"lost": 2},
            "fails",
            "Not all 3,187 records of inbox are in topic orders, 7 partitions, as they should",
        ),
        (
            {"lost": None, "twice": None, "moved": None},
            "open",
            "3,187 records of inbox were written to topic",
        ),
    ],
)
def test_a_stream_says_whether_it_was_checked(changed: dict[str, Any], state: str, words: str) -> None:
    with pytest.raises(pw.PartwrightError, match=r"^there is nothing to draw: leave out --plot$"):
        report.write(SAVED["stream"], "x.svg")
    first, second, marked = report.document(replace(SAVED["stream"], **changed)).verdicts
    assert (first.state, first.text.startswith(words)) == (state, True)
    assert second.text.startswith("3,000 were written, 187 were there already, in 3 batches to kafka://")
    assert marked.text.startswith("each record has one more header, partwright, ")
    assert replace(SAVED["stream"], **changed).to_arrow()["lost"].to_pylist() == [changed.get("lost", 0)]


def test_what_a_run_lacks_is_said() -> None:
    run = SAVED["run"]
    checked = replace(
        run, checks=None, proof=None, read={"whole": False, "passed": 5, "of": 9, "only_keys": 1}
    )
    first, second, third, *_ = report.document(checked).verdicts
    assert (first.state, first.headline) == ("open", "3,337 records of orders.csv")
    part = "a part of the topic was read: 5 of 9 offsets, the records of 1 key alone"
    assert (second.state, second.text) == ("open", part)
    assert third.text == "not checked: --no-check was given"
    # A strategy places records without a key too, among the others.
    placed = report.document(replace(run, strategy="sticky", producers=1))
    assert "null_keys" not in [column.field for column in placed.sections[0].columns]
    assert "null_keys" in [column.field for column in report.document(run).sections[0].columns]
    assert any("by the strategy sticky, with 1 producer;" in each.text for each in placed.verdicts)


def test_tables_of_answers_have_a_row_for_each_partition_client_or_key() -> None:
    import pyarrow as pa
    from fingerprinting import fingerprint

    from partwright.audit.check import Check

    keys = pa.array([f"k{place}" for place in range(100)])
    check = Check(3)
    check.add(keys)
    assert check.to_arrow().to_pylist() == check.to_dict()["partitions"]
    writer = fingerprint(keys, pw.partition_for_key(keys, 3))
    assert writer.to_arrow().to_pylist()[0] == {"client": "java", "rows": 100, "rows_placed": 100}
    assert fingerprint(pa.nulls(2, pa.string()), [0, 1]).to_arrow().num_rows == 0
    assert SAVED["run"].to_arrow().num_rows == 7


def strangers() -> list[Any]:
    """Objects that are not an answer, or have no page: replicas on brokers, one key's places, a class of known name."""
    from partwright.keys.client_profiles import placements

    namesake = type("Assignment", (), {})()
    placed = pw.cluster.placement.striped(range(4), 5, 3, seed=1)
    return [None, 7, {"a": 1}, [1], [], placed, placements("a", 3)[0], placements("a", 3), namesake]


@pytest.mark.parametrize("answer", strangers(), ids=lambda answer: type(answer).__name__)
def test_what_is_no_answer_is_refused(answer: Any) -> None:
    said = f"there is no report of a {type(answer).__name__}: give an answer, such as a Check or a Timeline"
    with pytest.raises(pw.PartwrightError, match=f"^{re.escape(said)}$"):
        report.page(answer)


def test_a_page_without_a_plot_is_small() -> None:
    answer = KeyPlacements("TT0124", 15, tuple(placements("TT0124", 15)))
    without = report.page(answer)
    assert len(without) < 50_000
    assert "JavaScript" not in without
    assert 'class="prose"' in without
