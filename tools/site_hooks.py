"""Hooks of the site's builder: links that leave docs/, sample pages, and Python sessions in pages and docstrings.

mkdocs calls `on_page_markdown` and `on_post_build`, and griffe, which reads the sources for the reference, the class
`Docstrings`.
"""

# ruff: noqa: INP001
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import griffe

# Its neighbours are programs in no package.
sys.path.insert(0, str(Path(__file__).parent))
import samples

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
OUTWARD = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]*)(?:#[^)]*)?\)")
SESSION = re.compile(r"^>>> .*(?:\n.+)*(?:\n\n>>> .*(?:\n.+)*)*", re.MULTILINE)
# What a function returns, as a sentence with a colon.
RETURNS = re.compile(r"^((?:Returns|Yields):\n +)(?=.*:\s)", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """A page as the site shows it; GitHub shows the file as it is.

    Args:
        markdown: The page's text.
        page: The page.

    Returns:
        The text. Links that leave docs/ become paths of the repository's files, because the site has no address for
        them; Python sessions are marked as such; the list of sample pages is filled in.
    """
    markdown = markdown.replace("<!-- samples -->", samples.links())
    folder = (DOCS / page.file.src_uri).parent
    parts = FENCED.split(markdown)
    parts[::2] = [OUTWARD.sub(lambda link: _inside(link, folder), part) for part in parts[::2]]
    return "".join(parts).replace("```python\n>>> ", "```pycon\n>>> ")


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the sample pages into the built site."""
    samples.write(Path(config.site_dir) / "samples")


def _inside(link: re.Match[str], folder: Path) -> str:
    target = (folder / link[2]).resolve()
    if target.is_relative_to(DOCS):
        return link[0]
    path = f"`{target.relative_to(ROOT)}`"
    return path if link[1].strip("`") in path else f"{link[1]} ({path})"


class Docstrings(griffe.Extension):
    """Makes docstrings what their author meant, where the parser or Markdown would take them for something else."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Change an object's docstring, if it has one.

        Sessions at its margin get fences, because Markdown would take them for quotations. In what it returns, the
        annotation comes first, because the parser takes what is before the first colon for the type.
        """
        if obj.docstring:
            text = SESSION.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
            if annotation := getattr(obj, "annotation", None):
                text = RETURNS.sub(lambda found: f"{found[1]}{annotation}: ", text)
            obj.docstring.value = text
