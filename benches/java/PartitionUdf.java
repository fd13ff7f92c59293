// The Spark bench's Java rival: Kafka's own partitioner as a Spark UDF, without a way through Python.

import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.spark.sql.api.java.UDF2;

/** What a key's record gets from the Java producer among n partitions, null for a null key. */
public final class PartitionUdf implements UDF2<byte[], Integer, Integer> {
    @Override
    public Integer call(byte[] key, Integer n) {
        return key == null ? null : BuiltInPartitioner.partitionForKey(key, n);
    }
}
