"""README shows real results: the demo's last lines, Spark's columns, the table of speeds, extras and links."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import partwright as pw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
REPOSITORY = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"][
    "repository"
]
# A file on GitHub, as a page and as it is: an image's address must not be a page around it.
PAGES = (f"{REPOSITORY}/blob/main/", f"{REPOSITORY.replace('//github.', '//raw.githubusercontent.')}/main/")
# A run's figures that compare.py has written, in the words that it writes into README.
HEADLINE = """
import json, sys
from pathlib import Path
from compare import address
from goals import Goal
from report import headline
page = Path(sys.argv[1])
raw = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
print("\\n".join(headline([Goal(**goal) for goal in raw["goals"]], raw["run"], address(page))))
"""


def shown() -> list[str]:
    match = re.search(r"^```\n((?:✓ .*\n)+)```$", TEXT, re.MULTILINE)
    assert match, "README shows no lines of the demo"
    return match[1].splitlines()


def test_readme_is_short() -> None:
    assert TEXT.count("\n") <= 150


def test_the_lines_in_readme_hold_the_proof() -> None:
    checked, proof = shown()
    assert checked.startswith("✓ checked 336,776 records: 0 lost, ")
    assert proof.endswith("chose the same one for 334,264 of 334,264 keyed records, another for 0")


@pytest.mark.spark
@pytest.mark.broker
def test_the_demo_prints_what_readme_shows(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "partwright", "run", "--runner", "spark"],
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
        # As wide as a sentence, so that none is broken.
        env={**os.environ, "PARTWRIGHT_STATE": str(tmp_path / "state"), "COLUMNS": "160"},
    )
    printed = done.stdout.splitlines()
    assert len(printed) > 30
    # The verdict, which begins the report, has a mark too.
    assert [line for line in printed if line.startswith("✓")][1:] == shown()


# PySpark 4.1 leaves the sockets of its collected results to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_the_lines_for_spark_give_partitions(spark: SparkSession) -> None:
    code = re.search(r"^```python\n(from partwright import spark.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert code
    orders = spark.createDataFrame([("TT0124", 2), ("N14228", 1), (None, 3)], "customer string, ts int")
    orders.createOrReplaceTempView("orders")
    names = {"orders": orders, "spark": spark}
    answers = []
    for line in code[1].splitlines():
        if line.startswith(("orders.", "spark.sql")):
            rows = eval(line, names).collect()  # noqa: S307
            answers.append({row.customer: row.partition for row in rows})
        else:
            exec(line, names)  # noqa: S102
    assert len(answers) == 4
    keys = ["TT0124", "N14228"]
    placed = dict(zip(keys, pw.partition_for_key(keys, 48).to_pylist(), strict=True))
    assert answers == [{**placed, None: None}] * 4


def test_the_table_of_speeds_is_that_of_a_run() -> None:
    block = TEXT.partition("<!-- bench -->\n")[2].partition("<!-- /bench -->")[0].strip()
    (page,) = re.findall(r"\]\((\S+\.md)\)", block)
    written = subprocess.run(
        [sys.executable, "-c", HEADLINE, str(ROOT / page.removeprefix(PAGES[0]))],
        cwd=ROOT / "benches",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"},
    ).stdout
    assert block == written.strip()
    assert "not measured" not in block


def test_each_extra_is_in_the_table() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table = TEXT.partition("| extra | brings |\n")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines()[1:] for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    assert named == list(about["project"]["optional-dependencies"])


def test_links_are_absolute_and_lead_to_files_that_are_there() -> None:
    links = re.findall(r"\]\(([^)#]+)", TEXT)
    assert len(links) > 30
    assert [link for link in links if not link.startswith("https://")] == []
    own = [link.removeprefix(page) for link in links for page in PAGES if link.startswith(page)]
    assert len(own) > 30
    assert [path for path in own if not (ROOT / path).is_file()] == []
