"""The pytest plug-in, in its own pytest: its fixture, its options, and its cost for tests that do not use it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
PLUGIN = "partwright.pytest_plugin"
ROWS = 'ROWS = [{"country": "US"}] * 900 + [{"country": f"country-{n}"} for n in range(100)]\n'


@pytest.fixture
def run(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Runs tests of one line each with the plug-in, under options of pytest.ini."""

    def once(*lines: str, **options: object) -> pytest.RunResult:
        pytester.makeini("\n".join(["[pytest]", *(f"{name} = {value}" for name, value in options.items())]))
        tests = [f"def test_{at}(partition_contract):\n    {line}\n" for at, line in enumerate(lines)]
        pytester.makepyfile("\n".join([ROWS, *tests]))
        return pytester.runpytest_subprocess("-W", "error", "--strict-config", "-p", PLUGIN)

    return once


def test_a_broken_contract_is_a_sentence_and_two_tables(run: Callable[..., pytest.RunResult]) -> None:
    said = run(
        "assert partition_contract(ROWS, 'country', n=12, max_share='91%').used == 12",
        "partition_contract(ROWS, 'country', n=12, max_share='20%')",
    )
    said.assert_outcomes(passed=1, failed=1)
    said.stdout.fnmatch_lines(
        [
            ">*partition_contract(ROWS, 'country', n=12, max_share='20%')",
            "E*ContractError: partition 8 has 90.5% of the rows, more than 20%, with the key US (900 rows): US alone *",
            "E  *partition         rows   share",
            "E  *8                  905   90.5%",
            "E  *key                rows   share",
            "E  *US                  900   90.0%",
            "test_*.py:7: ContractError",
        ]
    )
    for ours in ("pytest_plugin.py", "contract.py:", "_judge", "Traceback", "During handling"):
        assert ours not in said.stdout.str()


def test_a_project_states_its_contract_once(run: Callable[..., pytest.RunResult]) -> None:
    said = run(
        "partition_contract(ROWS, 'country')",
        # A test's own arguments take precedence.
        "partition_contract(ROWS, 'country', max_share=0.95)",
        "partition_contract(['a'], max_share=1, min_used=0.01)",
        "found = partition_contract(ROWS, 'country', n=7, client='java', max_share=1); assert found.n == 7",
        partwright_n=12,
        partwright_client="librdkafka",
        partwright_max_share="20%",
        partwright_min_used=0.9,
    )
    said.assert_outcomes(failed=1, passed=3)
    said.stdout.fnmatch_lines(["E*partition 0 has 90.6% of the rows, more than 20%*"])


def test_in_pyproject_toml(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.pytest.ini_options]\npartwright_n = 12\npartwright_max_share = 0.2\n")
    pytester.makepyfile(
        f"{ROWS}\ndef test_keys(partition_contract):\n    partition_contract(ROWS, 'country')\n"
    )
    said = pytester.runpytest_subprocess("-p", PLUGIN)
    said.assert_outcomes(failed=1)
    said.stdout.fnmatch_lines(["E*partition 8 has 90.5% of the rows, more than 20%*"])


def test_a_refusal_is_one_sentence(run: Callable[..., pytest.RunResult]) -> None:
    said = run(
        "partition_contract(['a'])",
        "partition_contract(['a'], n=12)",
        "partition_contract([None, None], n=12, max_share=1)",
        "partition_contract([], n=12, max_share=1)",
        "partition_contract(ROWS, n=12, max_share=1)",
    )
    said.assert_outcomes(failed=5)
    nothing = "rows has a key that client java places, so nothing was checked: give records with keys"
    said.stdout.fnmatch_lines(
        [
            "E*Error: say how many partitions the topic has: n=48 here, or partwright_n = 48 in pytest's configuration",
            "E*Error: a contract says something: give max_share, min_used or both",
            f"E*ContractError: none of 2 {nothing}",
            f"E*ContractError: none of 0 {nothing}",
            "E*Error: these are rows, not keys: say which of their members is the key, with key=",
        ]
    )
    assert "pytest_plugin.py" not in said.stdout.str()


def test_an_option_that_is_none_is_refused(run: Callable[..., pytest.RunResult]) -> None:
    said = run(
        "partition_contract(['a'])",
        "partition_contract(['a'], n=3)",
        partwright_n="4x",
        partwright_max_share=5,
    )
    said.assert_outcomes(failed=2)
    said.stdout.fnmatch_lines(
        [
            "E*Error: pytest's option partwright_n takes a whole number, not '4x'",
            "E*Error: max_share takes a share such as 5% or 0.05, not '5'",
        ]
    )


# Written where it is needed, so that it exists in a pytest without other plug-ins.
PROBE = """
import sys
def test_nothing():
    assert {plugin!r} in sys.modules
    assert not {{"pyarrow", "numpy", "pyspark", "rich", "click", "partwright.audit"}} & set(sys.modules)
"""


def test_it_costs_those_nothing_who_do_not_use_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(PROBE.format(plugin=PLUGIN))
    pytester.runpytest_subprocess("-W", "error", "-p", PLUGIN).assert_outcomes(passed=1)


@pytest.fixture
def installed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with the entry points that pyproject.toml declares, as an installed wheel is one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"]["pytest11"]
    assert points == {PLUGIN: PLUGIN}
    folder = pytester.path / "installed" / "likepartwright-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: likepartwright\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = ["[pytest11]", *(f"{name} = {module}" for name, module in points.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("words", "conftest"),
    [([], ""), (["-p", PLUGIN], ""), (["-p", PLUGIN], f"pytest_plugins = [{PLUGIN!r}]")],
)
def test_it_may_be_named_as_often_as_one_likes(
    pytester: pytest.Pytester, words: list[str], conftest: str
) -> None:
    pytester.makeconftest(conftest)
    pytester.makepyfile(
        "def test_keys(partition_contract):\n    assert partition_contract(['a'], n=3, max_share=1).rows == 1"
    )
    pytester.runpytest_subprocess("-W", "error", *words).assert_outcomes(passed=1)


@pytest.mark.usefixtures("installed")
def test_it_can_be_left_out(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_keys(partition_contract):\n    pass")
    said = pytester.runpytest_subprocess("-p", f"no:{PLUGIN}")
    said.assert_outcomes(errors=1)
    said.stdout.fnmatch_lines(["E*fixture 'partition_contract' not found"])
