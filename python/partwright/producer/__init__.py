"""A producer's choice of partitions: its strategies, configuration, records and custom partitioners."""
