"""Consumer groups as they live: rebalances, generations, fencing, and who reads what for how long.

>>> timeline = play({"topics": {"p": 3}, "assignor": "cooperative-sticky", "events": "+2, +1"})
>>> timeline
Timeline(3 members, 3 generations, 1 partition moved, 3.309 s without a reader)
"""

from partwright.group.coordinator import ClassicGroup, ConsumerGroup
from partwright.group.play_script import compare, costs, play
from partwright.group.timeline import Cost, Timeline

__all__ = ["ClassicGroup", "ConsumerGroup", "Cost", "Timeline", "compare", "costs", "play"]
