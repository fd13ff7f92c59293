"""The pytest plug-in: the fixture `partition_contract` checks in CI that real keys keep a contract on skew.

    def test_orders_are_spread(partition_contract):
        partition_contract(orders(), key="country", max_share="5%")

pytest imports this module at every start, so heavy imports wait until the fixture is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from partwright._check import Json, counted, shown
from partwright.errors import ContractError, PartwrightError
from partwright.keys.key_text import short

if TYPE_CHECKING:
    from partwright.audit.check import Check

__all__ = ["PartitionContract", "partition_contract", "pytest_addoption"]

_OPTIONS = {
    "n": "How many partitions the topic has: the default of n in partition_contract(...).",
    "client": "The client profile that places the keys, java by default: the default of client.",
    "max_share": "The share of the rows that a partition may have at most, such as 5%: the default of max_share.",
    "min_used": "The share of the partitions that must have rows at least, such as 90%: the default of min_used.",
}
_SHOWN = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options with which a project states its contract once.

    Args:
        parser: pytest's own.
    """
    for name, help_ in _OPTIONS.items():
        parser.addini(f"partwright_{name}", help_)


@pytest.fixture(scope="session")
def partition_contract(pytestconfig: pytest.Config) -> PartitionContract:
    """Fail a test whose records break a contract on skew; call it with records, key, n=48, max_share="5%"."""
    return PartitionContract(pytestconfig)


class PartitionContract:
    """The type of the fixture `partition_contract`.

    Args:
        config: pytest's own, which has the project's options.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def __call__(
        self,
        records: object,
        key: str | None = None,
        *,
        n: int | None = None,
        client: str | None = None,
        key_type: str | None = None,
        max_share: float | str | None = None,
        min_used: float | str | None = None,
    ) -> Check:
        """Check some records.

        Args:
            records: As for `partwright.check_contract`.
            key: The column with the record's key; None if the records are the keys.
            n: How many partitions the topic has; pytest's option `partwright_n` by default, and so on.
            client: The client profile.
            key_type: How a value becomes key bytes; see `partwright.encode`.
            max_share: Which share of the rows a partition may have at most.
            min_used: Which share of the partitions must have rows at least.

        Returns:
            The result of the check.

        Raises:
            ContractError: The records do not keep the contract, or the client places none of them by its key.
            PartwrightError: Whatever `partwright.check_contract` refuses.
        """
        # pytest shows the test's own line, and none of ours.
        __tracebackhide__ = True
        try:
            return self._check(
                records,
                key,
                n=self._number() if n is None else n,
                client=client or self._stated("client") or "java",
                key_type=key_type,
                max_share=self._stated("max_share") if max_share is None else max_share,
                min_used=self._stated("min_used") if min_used is None else min_used,
            )
        except ContractError as error:
            if tables := _tables(error.found.to_dict()):
                error.add_note(tables)
            raise error.with_traceback(None) from None
        except PartwrightError as error:
            raise error.with_traceback(None) from None

    def _stated(self, name: str) -> str | None:
        return self._config.getini(f"partwright_{name}") or None

    def _number(self) -> int:
        stated = self._stated("n")
        if stated is None:
            raise PartwrightError(
                "say how many partitions the topic has: n=48 here, or partwright_n = 48 in pytest's configuration"
            )
        if not stated.isdecimal():
            raise PartwrightError(f"pytest's option partwright_n takes a whole number, not {shown(stated)}")
        return int(stated)

    def _check(self, records: object, key: str | None, **terms: Any) -> Check:
        from partwright.audit.contracts import check_contract  # noqa: PLC0415 - it brings pyarrow

        check = check_contract(records, key=key, **terms)
        summary = check.to_dict()
        if not summary["used"]:
            # A test that checked nothing must not pass.
            raise ContractError(
                f"none of {counted(summary['rows'], 'row')} has a key that client {summary['client']} places, so "
                f"nothing was "
                "checked: give records with keys",
                check,
            )
        return check


def _tables(summary: Json) -> str:
    """The fullest partitions and the heaviest keys, for people."""
    filled = [each for each in summary["partitions"] if each["rows"]]
    fullest = sorted(filled, key=lambda each: -each["rows"])
    placed = sum(each["rows"] for each in filled)
    lines = []
    for name, those in [("partition", fullest), ("key", summary["heavy_keys"] or [])]:
        shown = [(short(str(each[name])), each["rows"]) for each in those[:_SHOWN]]
        width = max([len(name), *(len(what) for what, _ in shown)])
        lines += ["", f"{name:{width}}  {'rows':>11}  {'share':>6}"] if shown else []
        lines += [f"{what:{width}}  {rows:>11,}  {rows / placed:>6.1%}" for what, rows in shown]
    return "\n".join(lines)
