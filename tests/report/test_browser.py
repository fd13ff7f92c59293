"""Each command's page in a real Chromium: its drawings are visible, it logs nothing, asks no network, and can be used.

The screenshots are in target/report-screenshots.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.browser

SHOTS = Path(__file__).parents[2] / "target" / "report-screenshots"
PATIENCE_S = 30


class Opened:
    """An open page, with its messages and its requests so far."""

    def __init__(self, chromium: Any, file: Path, **how: Any) -> None:
        self.tab = chromium.new_page(**how)
        self.said: list[str] = []
        self.tab.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("request", lambda request: self.said.append(f"asked for {request.url}"))
        self.tab.goto(file.as_uri())

    def shot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.tab.screenshot(path=SHOTS / f"{name}.png", full_page=True)


@pytest.fixture
def opened(chromium: Any, page: Callable[[str], Path]) -> Iterator[Callable[..., Opened]]:
    """Opens a command's page."""
    tabs = []

    def made(name: str, **how: Any) -> Opened:
        tabs.append(Opened(chromium, page(name), **{"viewport": {"width": 1100, "height": 800}, **how}))
        return tabs[-1]

    yield made
    for each in tabs:
        each.tab.close()


# For each plot: its layer with a mark for each datum, drawn as a picture of its own; and the texts that extend
# beyond their picture.
PLOTS = """[...document.querySelectorAll('.plot')].map((plot) => {
  const svg = [...plot.querySelectorAll('svg')].find((each) => each.getBoundingClientRect().width);
  const box = svg.getBoundingClientRect();
  const cut = [...svg.querySelectorAll('text')].filter((text) => {
    const at = text.getBoundingClientRect();
    const beside = at.left < box.left - 1 || at.right > box.right + 1;
    return at.width && (beside || at.top < box.top - 1 || at.bottom > box.bottom + 1);
  }).map((text) => text.textContent);
  const copy = svg.cloneNode(true);
  const parts = [...copy.querySelectorAll('*')].filter((each) => !each.closest('defs, clipPath'));
  parts.forEach((each) => each.setAttribute('visibility', 'hidden'));
  const marks = copy.querySelectorAll('[class*="main_marks"] > path');
  marks.forEach((each) => each.setAttribute('visibility', 'visible'));
  copy.setAttribute('width', box.width);
  copy.setAttribute('height', box.height);
  const name = plot.id.replace('-plot', '');
  const drawn = new XMLSerializer().serializeToString(copy);
  return { name, cut, marks: marks.length, svg: drawn, wide: box.width, high: box.height };
})"""
# The share of visible points in a picture: those with at least a fifth of full colour.
INK = """async (plots) => Object.fromEntries(await Promise.all(plots.map(async ({ name, svg, wide, high }) => {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(Math.ceil(wide), Math.ceil(high));
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  let seen = 0;
  for (let at = 3; at < data.length; at += 4) seen += data[at] > 50;
  return [name, seen / (canvas.width * canvas.height)];
})))"""
# A map of single records on two thousand partitions has this share; a blank one, drawn by mistake, had a fiftieth.
LEAST_INK = 0.002


@pytest.fixture(scope="module")
def easel(chromium: Any) -> Iterator[Any]:
    """A page without a policy, which draws what others have."""
    tab = chromium.new_page()
    yield tab
    tab.close()


def wait_until(found: Opened, expression: str) -> None:
    """Waits until an expression holds in the page, whose policy forbids Playwright's own way of evaluating it there."""
    deadline = time.monotonic() + PATIENCE_S
    while not found.tab.evaluate(expression):
        assert time.monotonic() < deadline, expression
        found.tab.wait_for_timeout(50)


def plots_seen(found: Opened, easel: Any, name: str, drawn: set[str]) -> dict[str, int]:
    """Checks that each plot is visible and no label is cut; returns the number of marks of each."""
    plots = found.tab.evaluate(PLOTS)
    assert {each["name"] for each in plots} == drawn
    assert {each["name"]: each["cut"] for each in plots if each["cut"]} == {}, name
    ink = easel.evaluate(INK, plots)
    assert {plot: part for plot, part in ink.items() if part < LEAST_INK} == {}, name
    return {each["name"]: each["marks"] for each in plots}


def broken_rules(tab: Any) -> list[Any]:
    """axe's complaints about a page."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(tab)
    assert results.response["passes"]
    return [
        (each["id"], node["html"][:200], node["failureSummary"])
        for each in results.response["violations"]
        for node in each["nodes"][:2]
    ]


def test_a_page_is_seen_on_screens_and_phones_light_and_dark(
    any_size: str,
    opened: Callable[..., Opened],
    read: Callable[[str], Any],
    page: Callable[[str], Path],
    easel: Any,
) -> None:
    """The page draws all its marks visibly, cuts no label, logs nothing, asks for nothing, and fits."""
    name = any_size
    told = read(name)
    found = opened(name, viewport={"width": 1400, "height": 900})
    marks = plots_seen(found, easel, name, set(told.plots))
    assert marks == told.marks
    assert all(marks.values())
    if told.answer is not None:
        text = found.tab.evaluate("document.getElementById('answer').textContent")
        assert json.loads(text) == told.answer
    assert broken_rules(found.tab) == []
    found.shot(name)
    found.tab.emulate_media(color_scheme="dark")
    assert broken_rules(found.tab) == []
    assert found.said == [f"asked for {page(name).as_uri()}"]
    narrow = opened(name, viewport={"width": 390, "height": 800}, color_scheme="dark")
    assert plots_seen(narrow, easel, name, set(told.plots)) == told.marks
    # Nothing is wider than the window.
    assert narrow.tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert narrow.said == [f"asked for {page(name).as_uri()}"]
    narrow.shot(f"{name}-narrow-dark")
    narrow.tab.emulate_media(color_scheme="light")
    assert broken_rules(narrow.tab) == []


@pytest.mark.parametrize("name", ["check", "check-large", "batch", "group-many"])
def test_a_page_is_printed_on_few_sheets(name: str, opened: Callable[..., Opened]) -> None:
    paper = opened(name).tab.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", paper)) <= 3


def test_tables_sort_filter_and_are_saved(opened: Callable[..., Opened], read: Callable[[str], Any]) -> None:
    found = opened("check-large")
    parts = read("check-large").answer["partitions"]
    # More rows than are shown at once: the filter searches all.
    wanted = parts[-1]["partition"]
    found.tab.locator("#find").fill(f"{wanted:,}")
    wait_until(found, "document.querySelector('#partitions details').open")
    rows = "rows => rows.map((row) => row.cells[0].textContent)"
    assert f"{wanted:,}" in found.tab.eval_on_selector_all("#partitions tbody tr", rows)
    found.tab.locator("#find").fill("")
    found.tab.evaluate("document.querySelector('#partitions details').open = true")
    found.tab.locator("#partitions th button", has_text="records").first.click()
    assert found.tab.locator("#partitions th[aria-sort]").get_attribute("aria-sort") == "descending"
    most = max(part["rows"] for part in parts)
    counts = "rows => rows.map((row) => Number(row.cells[1].textContent.replaceAll(',', '')))"
    shown = found.tab.eval_on_selector_all("#partitions tbody tr", counts)
    assert (shown[0], len(shown)) == (most, 200)
    assert shown == sorted(shown, reverse=True)
    with found.tab.expect_download() as saved:
        found.tab.locator("#partitions .csv").click()
    assert saved.value.suggested_filename == "partwright-check-partitions.csv"
    with Path(saved.value.path()).open(encoding="utf-8", newline="") as opened_file:
        head, *lines = csv.reader(opened_file)
    assert head[:2] == ["partition", "records"]
    assert {int(line[0]): int(line[1]) for line in lines} == {
        part["partition"]: part["rows"] for part in parts
    }
    assert len(found.said) == 1


def test_a_section_of_lines_to_copy_leaves_the_other_tables_at_work(opened: Callable[..., Opened]) -> None:
    found = opened("rollout")
    assert found.tab.locator("#settings table").count() == 0
    found.tab.locator("#find").fill("cooperative")
    wait_until(found, "document.querySelector('#candidates details').open")
    rows = "rows => rows.map((row) => row.cells[0].textContent)"
    shown = found.tab.eval_on_selector_all("#candidates tbody tr", rows)
    assert len(shown) == 2
    assert all(name.startswith("cooperative-sticky") for name in shown)
    found.tab.locator("#find").fill("")
    found.tab.evaluate("document.querySelector('#candidates details').open = true")
    marked = "rows => rows.filter((row) => row.classList.contains('picked')).map((row) => row.cells[0].textContent)"
    before = found.tab.eval_on_selector_all("#candidates tbody tr", marked)
    found.tab.locator("#candidates th button", has_text="unread").click()
    after = found.tab.eval_on_selector_all("#candidates tbody tr", marked)
    assert sorted(after) == sorted(before) != []
    assert found.tab.locator("#candidates th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert len(found.said) == 1


def test_the_command_line_is_copied(opened: Callable[..., Opened]) -> None:
    found = opened("check")
    found.tab.locator("#copy").click()
    wait_until(found, "document.getElementById('copy').textContent === 'Copied'")
    line = found.tab.locator("#line").inner_text()
    assert line.startswith(
        "partwright check orders.csv --key customer -n 12 --partition partition --max-share "
    )
    assert found.tab.evaluate("getSelection().toString()") == line


@pytest.mark.spark
def test_the_main_jobs_page(folder: Path, chromium: Any, tmp_path: Path) -> None:
    """With Spark, which needs its own process."""
    words = [
        "run",
        "--runner",
        "spark",
        "orders.csv",
        "--key",
        "customer",
        "-n",
        "12",
        "--report",
        "run.html",
        "--json",
    ]
    words += ["--to", f"parquet:{tmp_path / 'out'}"]
    done = subprocess.run(
        [sys.executable, "-m", "partwright", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "report: run.html"
    told = json.loads(done.stdout)
    found = Opened(chromium, folder / "run.html", viewport={"width": 1100, "height": 800})
    assert len(found.said) == 1
    assert json.loads(found.tab.evaluate("document.getElementById('answer').textContent")) == told
    for figure, rows in (("partitions", told["partitions"]), ("heavy-keys", told["heaviest_keys"])):
        cells = found.tab.eval_on_selector_all(
            f"#{figure} tbody tr", "rows => rows.map((row) => Number(row.querySelector('data').value))"
        )
        assert cells == [row["records"] for row in rows]
    steps = found.tab.eval_on_selector_all(
        "#steps tbody th", "cells => cells.map((cell) => cell.textContent)"
    )
    assert steps == [step["name"] for step in told["steps"]]
    for plot in found.tab.query_selector_all(".plot"):
        marks = plot.query_selector_all('.wide [class*="main_marks"] > path')
        assert len(marks) == int(plot.get_attribute("data-marks"))
    assert "checked 3,000 records: 0 lost" in found.tab.locator("#verdict").inner_text()
    found.shot("run")


def test_the_colours_are_turned_by_the_keyboard(opened: Callable[..., Opened]) -> None:
    found = opened("check")
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('#partitions-plot .role-axis-label text')).fill"
    light = found.tab.evaluate(ground), found.tab.evaluate(ink)
    assert light == ("rgb(255, 255, 255)", "rgb(28, 33, 40)")
    found.tab.keyboard.press("Tab")
    assert found.tab.evaluate("document.activeElement.className") == "skip"
    found.tab.keyboard.press("Tab")
    button = found.tab.locator("#theme")
    assert found.tab.evaluate("document.activeElement.id") == "theme"
    assert button.get_attribute("aria-pressed") == "false"
    found.tab.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert (found.tab.evaluate(ground), found.tab.evaluate(ink)) == ("rgb(21, 24, 29)", "rgb(230, 233, 237)")
    found.tab.keyboard.press("Space")
    assert button.get_attribute("aria-pressed") == "false"
    assert (found.tab.evaluate(ground), found.tab.evaluate(ink)) == light


def test_the_skip_link_leads_to_the_answer(opened: Callable[..., Opened]) -> None:
    found = opened("check")
    found.tab.keyboard.press("Tab")
    found.tab.keyboard.press("Enter")
    assert found.tab.evaluate("document.activeElement.id") == "verdict"


def test_a_dark_page_is_printed_light_with_its_tables_open(opened: Callable[..., Opened]) -> None:
    found = opened("group", color_scheme="dark")
    found.tab.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = false))")
    SHOTS.mkdir(parents=True, exist_ok=True)
    paper = found.tab.pdf(path=SHOTS / "group.pdf", format="A4")
    assert paper.startswith(b"%PDF-")
    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") + paper.count(b"/Type/Page") >= 1
    found.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert found.tab.evaluate("document.querySelectorAll('details[open]').length") == 3
    found.tab.emulate_media(media="print")
    assert found.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not found.tab.locator(".toolbar").is_visible()
    found.shot("group-print")
    found.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert found.tab.evaluate("document.querySelectorAll('details[open]').length") == 0


def test_a_mark_says_its_numbers(opened: Callable[..., Opened], read: Callable[[str], Any]) -> None:
    found = opened("check-shares")
    first = read("check-shares").plots["partitions"]["data"]["values"][0]
    found.tab.locator('#partitions-plot .wide [class*="main_marks"] > path').first.hover()
    said = found.tab.locator("#told")
    said.wait_for(state="visible")
    assert f"{first['size']:,}" in said.inner_text()


def test_a_key_in_a_table_is_text(opened: Callable[..., Opened]) -> None:
    found = opened("check-hostile")
    table = found.tab.locator("#heavy-keys table")
    assert any("onerror=alert(1)" in text for text in table.locator("tbody th").all_inner_texts())
    assert table.locator("script, img").count() == 0
    assert len(found.said) == 1


def test_a_legend_leaves_one_kind_in_full_colour(
    opened: Callable[..., Opened], read: Callable[[str], Any]
) -> None:
    found = opened("check")
    faint = "document.querySelectorAll('#partitions-plot .faint').length"
    assert found.tab.evaluate(faint) == 0
    entry = found.tab.locator("#partitions-plot .wide .role-legend-symbol path").first
    entry.click()
    assert 0 < found.tab.evaluate(faint) < read("check").marks["partitions"]
    entry.click()
    assert found.tab.evaluate(faint) == 0


def test_the_json_is_saved(opened: Callable[..., Opened], read: Callable[[str], Any]) -> None:
    found = opened("resize")
    with found.tab.expect_download() as saved:
        found.tab.locator("#download").click()
    assert saved.value.suggested_filename == "partwright-resize.json"
    assert json.loads(Path(saved.value.path()).read_text(encoding="utf-8")) == read("resize").answer
