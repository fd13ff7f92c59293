"""polars: which partition holds how much, and which key makes the largest one large?

pip install partwright polars
python examples/polars_frame.py
"""

import polars as pl

import partwright as pw

orders = pl.DataFrame({"customer": [f"customer-{n % 97 if n % 4 else 7}" for n in range(100_000)]})

# An expression: it works in lazy and streaming frames, over groups and windows, too.
placed = orders.with_columns(partition=pw.partition_for_key(pl.col("customer"), 12))

by_partition = placed.group_by("partition").len("records").sort("records", descending=True)
print(by_partition.head(3))

largest = by_partition["partition"][0]
print(f"partition {largest} is the largest; its heaviest keys:")
print(placed.filter(pl.col("partition") == largest)["customer"].value_counts(sort=True).head(3))
