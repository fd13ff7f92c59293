// Batches of the versions that have the built-in partitioner; subclasses add their differences.
package partwright;

import static partwright.BatchScenario.TOPIC;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Node;
import partwright.BatchScenario.Sent;

/** The accumulator chooses itself where the record names no partition and has no key. */
public abstract class BuiltInSender extends BatchSender {
    /** More than a scenario takes, so that nobody waits for memory. */
    protected static final long MEMORY = 1L << 40;

    /** The group of the accumulator's metrics. */
    protected static final String GROUP = "producer-metrics";

    private final MetadataSnapshot metadata;

    /** Begins a scenario. */
    protected BuiltInSender(BatchScenario scenario) {
        super(scenario, true);
        metadata = new MetadataSnapshot(
                "golden", Map.of(), List.of(), Set.of(), Set.of(), Set.of(), null, Map.of(), scenario.cluster);
    }

    /** Hands a record to the accumulator. */
    protected abstract RecordAccumulator.RecordAppendResult append(Sent record, int partition, BuiltIn.Where where)
            throws InterruptedException;

    @Override
    protected final Appended append(Sent record) throws InterruptedException {
        int partition = RecordMetadata.UNKNOWN_PARTITION;
        if (record.partition() != null) {
            partition = record.partition();
        } else if (record.key() != null) {
            partition = BuiltInPartitioner.partitionForKey(
                    record.key(), scenario.cluster.partitionsForTopic(TOPIC).size());
        }
        BuiltIn.Where where = new BuiltIn.Where();
        RecordAccumulator.RecordAppendResult result = append(record, partition, where);
        return new Appended(where.partition(), result.batchIsFull || result.newBatchCreated);
    }

    @Override
    protected final RecordAccumulator.ReadyCheckResult ready(long nowMs) {
        return accumulator().ready(metadata, nowMs);
    }

    @Override
    protected final void tell(int broker, long nowMs, boolean canDrain) {
        accumulator().updateNodeLatencyStats(broker, nowMs, canDrain);
    }

    @Override
    protected final Map<Integer, List<ProducerBatch>> drain(Set<Node> brokers, long nowMs) {
        return accumulator().drain(metadata, brokers, scenario.number("max.request.size"), nowMs);
    }
}
