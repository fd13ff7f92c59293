"""Which keys move when a topic gets more partitions? All records of those are in two partitions afterwards.

pip install partwright
python examples/resize.py
"""

import partwright as pw
from partwright.audit import Resize

KEYS = [f"user-{n}" for n in range(10_000)]

# Half of the keys move if the number doubles, and most of them if it does not.
for new in (24, 18, 13):
    found = Resize(12, new)
    found.add(KEYS)
    print(f"12 -> {new}: {found.rows_moved:,} of {found.rows:,} records would have their key elsewhere")

# Key by key, which is what a consumer with state per partition has to know:
before, after = pw.partition_for_key(KEYS, 12), pw.partition_for_key(KEYS, 24)
for key, old, new in list(zip(KEYS, before.to_pylist(), after.to_pylist(), strict=True))[:5]:
    print(f"{key}: {'stays in' if old == new else f'{old} ->'} {new}")
