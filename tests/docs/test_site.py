"""The site of docs/: each page is in its menu, it builds without a warning, and its pages fetch nothing."""

from __future__ import annotations

import ast
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+", re.IGNORECASE
)
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
# The elements that are wider than the window, unless one around them scrolls.
WIDE = """() => [...document.querySelectorAll('body *')].filter((each) => {
  const box = each.getBoundingClientRect();
  if (!box.width || box.right <= document.documentElement.clientWidth + 1) return false;
  for (let above = each.parentElement; above; above = above.parentElement) {
    if (getComputedStyle(above).overflowX !== 'visible') return false;
  }
  return true;
}).map((each) => each.outerHTML.slice(0, 100))"""
# Pictures that are not there or shrunk, sessions whose lines are wrapped, names in tables that are broken.
BROKEN = """() => {
  const shrunk = [...document.images].filter((each) => !each.naturalWidth || each.width < each.naturalWidth);
  const wrapped = [...document.querySelectorAll('article pre > code')].filter((each) =>
    getComputedStyle(each).whiteSpace !== 'pre');
  const names = [...document.querySelectorAll('article td > code')].filter((each) =>
    /^\\w+$/.test(each.textContent) && each.getClientRects().length > 1);
  return [...shrunk, ...wrapped, ...names].map((each) => each.outerHTML.slice(0, 100));
}"""


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
        assert "<blockquote>" not in prose
        # A page of the site has a title, and a table's code its bar without a sign in front of it.
        assert not re.findall(r"\.md</a>|\\\|", re.sub(r"<pre\b.*?</pre>", "", text, flags=re.DOTALL)), page
        shown = html.unescape(re.sub(r"<[^>]*>", "", prose))
        assert not re.findall(r"`|\*\*|##|\|\s*:?---|\n- |\]\(|\]\[|^#|>>> |!!!|:::", shown, re.MULTILINE), (
            page
        )


def headings(page: str) -> list[tuple[str, str]]:
    """A page's headings, level and text, but for those of the reference, which come from docstrings."""
    found = re.findall(r"<(h[1-6])\b([^>]*)>(.*?)</\1>", page.partition("<article")[2], re.DOTALL)
    return [
        (tag, html.unescape(re.sub(r"<[^>]*>", "", text)).removesuffix("¶").strip())
        for tag, attributes, text in found
        if "doc-heading" not in attributes
    ]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_headings_that_its_author_wrote(page: str, site: Path) -> None:
    written = re.findall(
        r"^(#{1,6}) (.*)$", FENCED.sub("", (DOCS / page).read_text(encoding="utf-8")), re.MULTILINE
    )
    shown = headings((site / page.replace(".md", ".html")).read_text(encoding="utf-8"))
    plain = [(f"h{len(signs)}", re.sub(r"[`*]|\]\(.*?\)|\[", "", text)) for signs, text in written]
    assert shown == plain
    assert [tag for tag, _ in shown].count("h1") == 1
    assert shown[0][0] == "h1"
    assert len(dict.fromkeys(shown)) == len(shown)
    assert all(text for _, text in shown)


def test_each_page_has_a_title_of_its_own(site: Path) -> None:
    titles = [
        re.findall(r"<title>(.+)</title>", (site / page.replace(".md", ".html")).read_text(encoding="utf-8"))
        for page in PAGES
    ]
    assert {len(each) for each in titles} == {1}
    assert len({each[0] for each in titles}) == len(PAGES)


def test_each_link_leads_somewhere(site: Path) -> None:
    # A server shows 404.html for any address, so its links begin at the server's root.
    pages = {
        page: re.sub(
            r"(<script\b[^>]*>).*?</script>", r"\1", page.read_text(encoding="utf-8"), flags=re.DOTALL
        )
        for page in site.rglob("*.html")
        if page.name != "404.html"
    }
    anchors = {page: set(re.findall(r'<[^>]*\bid="([^"]+)"', text)) for page, text in pages.items()}
    count = 0
    for page, text in pages.items():
        for address in re.findall(r'<\w[^>]*\b(?:href|src)="([^"]*)"', text):
            link = urlsplit(html.unescape(address))
            if link.scheme or link.netloc:
                continue
            target = (page.parent / unquote(link.path)).resolve() if link.path else page
            assert target.is_file(), (page, address)
            if link.fragment and target in anchors:
                assert unquote(link.fragment) in anchors[target], (page, address)
                count += 1
    assert count > 1000


@pytest.mark.parametrize("width", [390, 1300])
def test_no_page_is_wider_than_the_window(width: int, site: Path, chromium: Any) -> None:
    """Sessions, tables and figures scroll where they are; a session's line and a name in a table are never broken."""
    tab = chromium.new_page(viewport={"width": width, "height": 900})
    for page in PAGES:
        tab.goto((site / page.replace(".md", ".html")).as_uri())
        tab.wait_for_function("document.readyState === 'complete'")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, page
        assert tab.evaluate(WIDE) == [], page
        broken = tab.evaluate(BROKEN)
        assert broken == [], page
    tab.close()


def test_the_reference_has_each_public_name(site: Path) -> None:
    built = "".join(page.read_text(encoding="utf-8") for page in sorted((site / "reference").glob("*.html")))
    shown = set(re.findall(r'id="(partwright[\w.]*)"', built))
    names = {id_.rpartition(".")[2] for id_ in shown}
    for module in ("", ".batching", ".cluster", ".group", ".kafka", ".migration", ".report", ".spark"):
        place = ROOT / "python" / "partwright" / Path(*module.split("."))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        source = file.read_text(encoding="utf-8")
        (listed,) = re.findall(r"^__all__ = (\[.*?\])$", source, re.MULTILINE | re.DOTALL)
        public = ast.literal_eval(listed)
        assert public
        for name in public:
            full = f"partwright{module}.{name}"
            # A function whose module has its name appears under the module's path.
            elsewhere = not module or module == ".migration"
            assert {full, f"{full}.{name}"} & shown or (elsewhere and name in names), full


def test_the_reference_shows_types_where_it_names_them(site: Path) -> None:
    """The parser of docstrings takes a sentence before a colon for the type of what a function returns."""
    shown = [
        re.sub(r"<[^>]*>", "", each)
        for page in (site / "reference").glob("*.html")
        for each in re.findall(
            r'<li class="doc-section-item field-body">\s*<code>(.*?)</code>',
            page.read_text(encoding="utf-8"),
            re.DOTALL,
        )
    ]
    assert len(shown) > 100
    assert [each for each in shown if re.search(r"`|\w \w", each)] == []


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
