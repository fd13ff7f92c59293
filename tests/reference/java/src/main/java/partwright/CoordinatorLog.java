// The log of a coordinator, which keeps nothing: what is appended is at once below the high watermark.
package partwright;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/** A partition of `__consumer_offsets` with one replica. */
final class CoordinatorLog implements PartitionWriter {
    private final List<Listener> listeners = new ArrayList<>();
    private long end;

    @Override
    public void registerListener(TopicPartition partition, Listener listener) {
        listeners.add(listener);
    }

    @Override
    public void deregisterListener(TopicPartition partition, Listener listener) {
        listeners.remove(listener);
    }

    @Override
    public LogConfig config(TopicPartition partition) {
        return new LogConfig(Map.of());
    }

    @Override
    public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords records, short version) {
        for (Record ignored : records.records()) {
            end++;
        }
        listeners.forEach(listener -> listener.onHighWatermarkUpdated(partition, end));
        return end;
    }

    @Override
    public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
            TopicPartition partition, String transaction, long producer, short epoch, int version) {
        throw new IllegalStateException("there are no transactions");
    }

    @Override
    public CompletableFuture<Void> deleteRecords(TopicPartition partition, long before) {
        return CompletableFuture.completedFuture(null);
    }
}
