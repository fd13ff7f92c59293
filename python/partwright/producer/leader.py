"""Where a partition's leader should be: by its host, rack or region.

>>> from partwright.cluster import Broker
>>> from partwright.producer.configs import read_configs
>>> is_near(Broker(0, host="10.1.2.3"), read_configs({"leader.host": "10.1.0.0/16"}), "leader")
True
>>> is_near(Broker(0, rack="eu-west-1a"), read_configs({"leader.rack": "eu-*"}), "leader")
True
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.cluster.brokers import Broker
    from partwright.producer.configs import Configs

__all__ = ["is_near"]


def is_near(broker: Broker, configs: Configs, strategy: str) -> bool:
    """Whether a broker is where a producer wants to write.

    Args:
        broker: The leader of a partition.
        configs: `leader.host`, `leader.rack` and `leader.region`; if several are given, all must match. For every other
            strategy than `leader`, `client.rack` (`Node.rack`, KIP-1123).
        strategy: The strategy.

    Raises:
        PartwrightError: The strategy `leader` without one of these, or an invalid network.
    """
    if strategy != "leader":
        return broker.rack is not None and broker.rack == configs.client_rack
    wanted = [
        (configs.leader_host, broker.host, _host_is),
        (configs.leader_rack, broker.rack, _text_is),
        (configs.leader_region, broker.region, _text_is),
    ]
    given = [(want, found, holds) for want, found, holds in wanted if want is not None]
    if not given:
        raise PartwrightError(
            "the strategy leader goes by where a leader is: set leader.host, leader.rack or leader.region"
        )
    return all(_holds(want, found, holds) for want, found, holds in given)


def _holds(wanted: str, found: str | None, holds: Callable[[str, str], bool]) -> bool:
    # The network is read even if no broker has a host.
    return holds(wanted, found or "") and found is not None


def _text_is(wanted: str, found: str) -> bool:
    return found.startswith(wanted[:-1]) if wanted.endswith("*") else found == wanted


def _host_is(wanted: str, found: str) -> bool:
    if "/" not in wanted:
        return _text_is(wanted, found)
    try:
        network = ipaddress.ip_network(wanted, strict=False)
    except ValueError:
        raise PartwrightError(f"leader.host {wanted!r} is not a network: write it as 10.1.0.0/16") from None
    try:
        return ipaddress.ip_address(found) in network
    except ValueError:
        return False
