"""Each command's page in a real Chromium: it draws all of its marks, logs nothing, asks no network, and can be used.

The screenshots are in target/report-screenshots.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SHOTS = Path(__file__).parents[2] / "target" / "report-screenshots"
DRAWN = "html[data-drawn]"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The machine's own browser: none is downloaded."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.fail("Chromium was not found on PATH: install it (Debian: apt-get install chromium)")
    # Its sandbox does not work for root, as in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=arguments)
        yield running
        running.close()


class Opened:
    """A page that is open, and what it said and asked for meanwhile."""

    def __init__(self, chromium: Any, file: Path, **how: Any) -> None:
        self.tab = chromium.new_page(**how)
        self.said: list[str] = []
        self.tab.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("request", lambda request: self.said.append(f"asked for {request.url}"))
        self.tab.goto(file.as_uri())
        self.tab.wait_for_selector(DRAWN, state="attached", timeout=60_000)

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


def test_a_page_draws_each_mark_says_nothing_and_asks_for_nothing(
    name: str, opened: Callable[..., Opened], read: Callable[[str], Any], page: Callable[[str], Path]
) -> None:
    found = opened(name)
    assert found.said == [f"asked for {page(name).as_uri()}"]
    marks = {
        plot.get_attribute("id").removesuffix("-plot"): len(
            plot.query_selector_all('[class*="main_marks"] > path')
        )
        for plot in found.tab.query_selector_all(".plot")
    }
    assert marks == read(name).marks
    assert all(marks.values())
    assert (
        json.loads(found.tab.evaluate("document.getElementById('answer').textContent")) == read(name).answer
    )
    found.shot(name)
    narrow = opened(name, viewport={"width": 400, "height": 800}, color_scheme="dark")
    assert narrow.said == [f"asked for {page(name).as_uri()}"]
    narrow.shot(f"{name}-narrow-dark")
    # Nothing is wider than the window.
    assert narrow.tab.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_breaks_no_rule_of_axe(name: str, scheme: str, opened: Callable[..., Opened]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = opened(name, color_scheme=scheme)
    results = Axe().run(found.tab)
    assert results.response["passes"]
    broken = [
        (each["id"], node["html"][:200], node["failureSummary"])
        for each in results.response["violations"]
        for node in each["nodes"][:2]
    ]
    assert broken == []


@pytest.mark.spark
def test_the_main_jobs_page(folder: Path, chromium: Any, tmp_path: Path) -> None:
    """With Spark, which needs a process of its own."""
    words = ["run", "orders.csv", "--key", "customer", "-n", "12", "--report", "run.html", "--json"]
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
        marks = plot.query_selector_all('[class*="main_marks"] > path')
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
    found.tab.locator('#partitions-plot [class*="main_marks"] > path').first.hover()
    said = found.tab.locator("#vg-tooltip-element")
    said.wait_for(state="visible")
    assert f"{first['size']:,}" in said.inner_text()


def test_a_key_in_a_tooltip_is_text(opened: Callable[..., Opened]) -> None:
    found = opened("check-hostile")
    marks = found.tab.locator('#heavy-keys-plot [class*="main_marks"] > path')
    said = found.tab.locator("#vg-tooltip-element")
    texts = []
    for place in range(marks.count()):
        marks.nth(place).hover()
        said.wait_for(state="visible")
        texts.append(said.inner_text())
        assert said.locator("script, img").count() == 0
    assert any("onerror=alert(1)" in text for text in texts)
    assert len(found.said) == 1


def test_a_legend_leaves_one_kind_in_full_colour(opened: Callable[..., Opened]) -> None:
    found = opened("check")
    faint = (
        "[...document.querySelectorAll('#partitions-plot [class*=\"main_marks\"] > path')]"
        ".filter((each) => each.getAttribute('opacity') === '0.2').length"
    )
    assert found.tab.evaluate(faint) == 0
    found.tab.locator("#partitions-plot .role-legend-symbol path").first.click()
    found.tab.wait_for_function(f"{faint} > 0")


def test_zooming_takes_shift(opened: Callable[..., Opened]) -> None:
    found = opened("check-1000")
    plot = found.tab.locator("#partitions-plot")
    plot.scroll_into_view_if_needed()
    texts = "document.querySelectorAll('#partitions-plot .role-axis-label text')"
    labels = f"[...{texts}].map((each) => each.textContent).join()"
    before = found.tab.evaluate(labels)
    box = plot.bounding_box()
    found.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    found.tab.keyboard.down("Shift")
    found.tab.mouse.wheel(0, -400)
    found.tab.wait_for_function(f"{labels} !== {before!r}")
    found.tab.keyboard.up("Shift")


def test_the_json_is_saved(opened: Callable[..., Opened], read: Callable[[str], Any]) -> None:
    found = opened("resize")
    with found.tab.expect_download() as saved:
        found.tab.locator("#download").click()
    assert saved.value.suggested_filename == "partwright-resize.json"
    assert json.loads(Path(saved.value.path()).read_text(encoding="utf-8")) == read("resize").answer
