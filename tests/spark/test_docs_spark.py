"""The examples of docs/spark.md and the pages after it run, one after the other, in one Python process of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from partwright.spark.requirements import pyspark_version

DOCS = Path(__file__).parents[2] / "docs"
# In this order, because each page continues with the tables of the earlier ones.
PAGES = ["spark.md", "spark-topics.md", "spark-functions.md"]
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Each printed text begins with the comment below its `print`.
PRINTED = re.compile(r"^ *print\(.*\)\n *# (.*?)(?: \.\.\.)?$", re.MULTILINE)


@pytest.mark.broker
@pytest.mark.skipif(
    pyspark_version() < (4, 1), reason="the page has an Arrow UDF, and joins without a setting"
)
def test_the_examples_run(tmp_path: Path) -> None:
    """An error's line in the script is its line on the page, because all other lines are kept empty."""
    told = []
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        examples = list(EXAMPLE.finditer(text))
        assert len(examples) > 5
        lines = [""] * text.count("\n")
        for example in examples:
            first = text.count("\n", 0, example.start(1))
            code = example[1].splitlines()
            lines[first : first + len(code)] = code
            told += PRINTED.findall(example[1])
        (tmp_path / page).write_text("\n".join(lines) + "\n", encoding="utf-8")
    script = tmp_path / "pages.py"
    script.write_text(
        f"for page in {PAGES}:\n    exec(compile(open(page).read(), page, 'exec'), globals())\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(told) > 1
    for printed, beginning in zip(done.stdout.splitlines(), told, strict=True):
        assert printed.startswith(beginning)
    assert done.stderr == ""
