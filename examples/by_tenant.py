"""A partitioner of your own: keys are `tenant:order`, and all orders of a tenant belong into one partition.

One class serves Python's producers, Spark, and `partwright run`. `business_partitioner.py` uses it in all of them.
"""

import partwright as pw


class ByTenant:
    """Places a record by what stands before the colon of its key, as Java's producer places that text."""

    def partition(self, topic, key, key_bytes, value, value_bytes, cluster):
        """The method of Kafka's interface `Partitioner`, with the same arguments."""
        tenant = key_bytes.partition(b":")[0]
        return pw.partition_for_key(tenant, len(cluster.partitions(topic)))
