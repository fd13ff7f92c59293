"""How many partitions a topic needs, and what they cost."""
