"""Simulated consumer groups: rebalances, generations, fencing, and who reads what for how long.

>>> timeline = play({"topics": {"p": 3}, "assignor": "cooperative-sticky", "events": "+2, +1"})
>>> len(timeline.members), timeline.cost.generations, timeline.cost.moved, timeline.cost.unowned_s
(3, 3, 1, 4.414)
"""

from partwright.group.coordinator import ClassicGroup, ConsumerGroup
from partwright.group.play_script import Lives, compare, costs, play, races
from partwright.group.rollouts.answer import Rollout
from partwright.group.rollouts.rolled_pods import PodConsumers, RolledPods, rollout
from partwright.group.timeline import Cost, Timeline

__all__ = [
    "ClassicGroup",
    "ConsumerGroup",
    "Cost",
    "Lives",
    "PodConsumers",
    "RolledPods",
    "Rollout",
    "Timeline",
    "compare",
    "costs",
    "play",
    "races",
    "rollout",
]
