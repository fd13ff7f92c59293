"""The site of docs/: each page is in its menu, it builds without a warning, and its pages fetch nothing."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+", re.IGNORECASE
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        # Nothing is fetched, because nothing can be.
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "https_proxy": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    # With --quiet, mkdocs would not count the warnings on which a strict build fails.
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_each_page_is_in_the_menu_once() -> None:
    menu = re.findall(
        r"^ +- (?:[^:\n]+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(menu) == PAGES
    assert len(PAGES) > 40


def test_no_page_fetches_anything(site: Path) -> None:
    built = sorted(site.rglob("*.html"))
    assert len(built) > len(PAGES)
    for page in built:
        assert not FETCHED.findall(page.read_text(encoding="utf-8")), page
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet
    assert FETCHED.findall('<script src="https://unpkg.com/iframe-worker/shim">')


def test_the_pages_are_what_they_were_written_as(site: Path) -> None:
    """Markdown that was not understood appears unchanged on the page: fences, tables, lists, links, quoted sessions."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
        prose = re.sub(r"<(pre|code)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert not re.findall(r"```|\| --- |\n- |\]\([\w./#-]+\)|<blockquote>|&gt;&gt;&gt; ", prose), page


def test_the_reference_has_each_public_name(site: Path) -> None:
    built = "".join(page.read_text(encoding="utf-8") for page in sorted((site / "reference").glob("*.html")))
    shown = set(re.findall(r'id="(partwright[\w.]*)"', built))
    names = {id_.rpartition(".")[2] for id_ in shown}
    for module in ("", ".batching", ".cluster", ".group", ".kafka", ".migration", ".report", ".spark"):
        source = (ROOT / "python" / "partwright" / Path(*module.split(".")) / "__init__.py").read_text(
            encoding="utf-8"
        )
        (listed,) = re.findall(r"^__all__ = (\[.*?\])$", source, re.MULTILINE | re.DOTALL)
        public = ast.literal_eval(listed)
        assert public
        for name in public:
            full = f"partwright{module}.{name}"
            # A function whose module has its name appears under the module's path.
            elsewhere = not module or module == ".migration"
            assert {full, f"{full}.{name}"} & shown or (elsewhere and name in names), full


def test_the_figures_are_what_partwright_draws() -> None:
    done = subprocess.run(
        [sys.executable, "tools/figures.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    # With --quiet, mkdocs would not count the warnings on which a strict build fails.
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "WARNING" not in done.stderr


def test_the_notebook_shows_what_it_would_now() -> None:
    done = subprocess.run(
        [sys.executable, "tools/notebook.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    cells = json.loads((DOCS / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    pages = [
        "".join(output["data"]["text/html"])
        for cell in cells
        for output in cell.get("outputs", [])
        if "text/html" in output["data"]
    ]
    assert len(pages) == 4
    assert all(page.count("<svg") == page.count("<table") == 2 for page in pages)


def test_each_figure_is_shown_and_said_in_words() -> None:
    drawn = {path.name for path in (ROOT / "docs" / "figures").glob("*.svg")}
    text = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)
    shown = re.findall(r"!\[([^\]]{20,})\]\(figures/([\w-]+\.svg)\)", text)
    assert {name for _, name in shown} == drawn
    assert len(drawn) > 10


def test_each_sample_page_is_built_and_linked(site: Path) -> None:
    page = (site / "reports.html").read_text(encoding="utf-8")
    linked = dict(re.findall(r'<a href="samples/(\w+)\.html"><code>([\w -]+)</code>', page))
    built = {path.stem: path.read_text(encoding="utf-8") for path in (site / "samples").glob("*.html")}
    assert sorted(linked) == sorted(built)
    assert {"run", "check", "fingerprint", "resize", "assign", "group", "rollout", "batch"} <= built.keys()
    assert all(f"partwright {linked[name]}" in text for name, text in built.items())


def test_search_finds_the_pages(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index = {")
    assert all(f'"location":"{page.removesuffix(".md")}.html' in index for page in PAGES)
