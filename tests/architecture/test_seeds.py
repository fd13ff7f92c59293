"""Every random test takes its seed from PARTWRIGHT_SEED, which the run prints."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PYTHON = sorted(path for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
RUST = sorted([*(ROOT / "tests").rglob("*.rs"), *(ROOT / "rust").rglob("*.rs")])
# Names and secrets that must be new each time may come from `secrets`.
UNSEEDED = re.compile(
    r"((np|numpy)\.)?random\.(?!(Random|default_rng)\b)\w+|secrets\.(randbits|randbelow|choice)"
)
SEEDED = re.compile(r"((np|numpy)\.)?random\.(Random|default_rng)")
GENERATORS = re.compile(r"\b(rand|fastrand|getrandom)::|\bRandomState\b|proptest_config.*rng_seed")


def draws(code: str) -> Iterator[str]:
    """Calls of a module's generator, which nobody seeded, or of a new one without a seed."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if UNSEEDED.fullmatch(name) or (SEEDED.fullmatch(name) and not node.args):
                yield f"{name} in line {node.lineno}"


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_test_draws_by_a_seed(path: Path) -> None:
    assert list(draws(path.read_text(encoding="utf-8"))) == []


def test_draws_without_a_seed_are_seen() -> None:
    unseeded = ["random.randint(1, 2)", "random.SystemRandom()", "random.Random()", "secrets.randbits(32)"]
    unseeded += ["np.random.default_rng()", "numpy.random.shuffle(keys)", "secrets.choice(names)"]
    seeded = ["random.Random(seed)", "np.random.default_rng(7)", "draw.choice(names)", "secrets.token_hex(4)"]
    assert [len(list(draws(code))) for code in unseeded] == [1] * len(unseeded)
    assert [len(list(draws(code))) for code in seeded] == [0] * len(seeded)


def test_rust_draws_with_proptest_alone() -> None:
    """`make` gives PARTWRIGHT_SEED to proptest; under bare `cargo test` it prints the smallest input that fails."""
    assert len(RUST) > 200
    assert [path.name for path in RUST if GENERATORS.search(path.read_text(encoding="utf-8"))] == []
    assert "export PROPTEST_RNG_SEED = $(SEED)" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_hypothesis_draws_by_the_same_seed(pytestconfig: pytest.Config, seed: int) -> None:
    assert int(os.environ["PARTWRIGHT_SEED"]) == seed
    if not any(word.startswith("--hypothesis-seed") for word in pytestconfig.invocation_params.args):
        assert pytestconfig.getoption("--hypothesis-seed") == str(seed)
