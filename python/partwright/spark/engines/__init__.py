"""The two engines that compute a partition in Spark: `arrow`, the core in Python workers, and `jvm`, an expression."""
