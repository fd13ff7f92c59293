"""The two engines that work out a partition in Spark: `arrow`, the core in Python workers, and `jvm`, an expression."""
