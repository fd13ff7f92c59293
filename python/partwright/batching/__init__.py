"""A producer's batches before it runs: what its accumulator and its sender do with given records.

Exact to `RecordAccumulator`, `BuiltInPartitioner` and `Sender` of kafka-clients 4.4.0, and to those of 3.9.2 and 2.8.2
under the strategies of these versions, without compression and transactions. Time is in the records: nothing sleeps,
and no clock is read.
"""

from partwright.batching.scenario import replay
from partwright.batching.simulation import Delivery, Simulation, compare, simulate
from partwright.batching.tuning import Tuning, tune

__all__ = ["Delivery", "Simulation", "Tuning", "compare", "replay", "simulate", "tune"]
