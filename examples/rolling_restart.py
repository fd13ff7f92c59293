"""What does a rolling restart of four consumers cost, under each protocol, with and without static membership?

Nothing is restarted: the group is played, exactly as Kafka's coordinator and assignors would have it.

    pip install partwright
    python examples/rolling_restart.py
"""

import partwright as pw

# Four consumers join, then each is restarted in turn. A consumer that is restarted is back after 5 seconds.
SCRIPT = {"topics": {"orders": 12}, "events": "+4, roll"}

print(f"{'protocol':<20}{'members':<10}{'moved':>6}{'unread, s':>12}")
for (protocol, static), timeline in pw.group.compare(SCRIPT).items():
    members = "static" if static else "dynamic"
    # `unowned_s` sums up, over the partitions, the seconds in which nobody read them.
    print(f"{protocol:<20}{members:<10}{timeline.moved:>6}{timeline.cost.unowned_s:>12.1f}")
