// The log of a coordinator, and who reads it when another broker loads it: what is appended is at once below the high watermark.
package partwright;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.coordinator.common.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * A partition of `__consumer_offsets` with one replica. It is read from its beginning: what a broker cleans are old segments, and
 * these have 100 MiB.
 */
final class CoordinatorLog implements PartitionWriter, CoordinatorLoader<CoordinatorRecord> {
    private static final long NO_PRODUCER = -1;
    private static final short NO_EPOCH = -1;

    private final List<Listener> listeners = new ArrayList<>();
    private final List<Record> records = new ArrayList<>();
    private final GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();

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
    public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords appended, short version) {
        // The coordinator takes its buffer back.
        ByteBuffer kept = ByteBuffer.allocate(appended.sizeInBytes());
        kept.put(appended.buffer()).flip();
        MemoryRecords.readableRecords(kept).records().forEach(records::add);
        listeners.forEach(listener -> listener.onHighWatermarkUpdated(partition, records.size()));
        return records.size();
    }

    @Override
    public CompletableFuture<LoadSummary> load(
            TopicPartition partition, CoordinatorPlayback<CoordinatorRecord> coordinator) {
        for (int offset = 0; offset < records.size(); offset++) {
            Record record = records.get(offset);
            coordinator.replay(offset, NO_PRODUCER, NO_EPOCH, serde.deserialize(record.key(), record.value()));
        }
        if (!records.isEmpty()) {
            coordinator.updateLastWrittenOffset(records.size());
            coordinator.updateLastCommittedOffset(records.size());
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
        records.clear();
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
