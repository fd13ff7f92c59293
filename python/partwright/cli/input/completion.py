"""Shell completion of option values: names of clients, strategies, assignors, key types and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

__all__ = [
    "assignor_names",
    "client_names",
    "key_type_names",
    "protocol_names",
    "security_names",
    "strategy_names",
]


def _of(names: Callable[[], list[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """The names that begin with the typed text, or with the part after its last comma."""

    def complete(ctx: click.Context, option: click.Parameter, typed: str) -> list[str]:
        del ctx, option
        before, comma, last = typed.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


# Each is imported when needed, so that --help is fast.
def _clients() -> list[str]:
    from partwright.keys.clients import client_names

    return client_names()


def _strategies() -> list[str]:
    from partwright import _core

    return [row[0] for row in _core.strategies()]


def _assignors() -> list[str]:
    from partwright import _core

    return [*_core.assignors(), *_core.client_assignors()]


def _key_types() -> list[str]:
    from partwright.keys.clients import key_types

    return key_types()


def _securities() -> list[str]:
    from partwright.kafka.embedded_security import security_names

    return security_names()


client_names = _of(_clients)
strategy_names = _of(_strategies)
assignor_names = _of(_assignors)
key_type_names = _of(_key_types)
security_names = _of(_securities)
protocol_names = _of(lambda: ["classic", "consumer"])
