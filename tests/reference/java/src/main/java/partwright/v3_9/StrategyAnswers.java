// Answers questions about strategies with the producer classes of Kafka 3.9, the last that has them all.
package partwright.v3_9;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import partwright.BuiltIn;
import partwright.Partitioners;
import partwright.Strategies;
import partwright.Strategies.Sent;

/** `sticky@3.3` and `round-robin@3.9.2`; `sticky@2.4` and `uniform-sticky@2.4`, which this version deprecates. */
public final class StrategyAnswers {
    private static final long MEMORY = 1L << 40;
    private static final String GROUP = "producer-metrics";

    @SuppressWarnings("deprecation") // They are asked about because users still have them.
    private static final Map<String, Supplier<Partitioner>> PARTITIONERS = Map.of(
            "round-robin@3.9.2", RoundRobinPartitioner::new,
            "sticky@2.4", org.apache.kafka.clients.producer.internals.DefaultPartitioner::new,
            "uniform-sticky@2.4", org.apache.kafka.clients.producer.UniformStickyPartitioner::new);

    private StrategyAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Strategies.answer("kafka-clients", AppInfoParser.getVersion(), new Strategies.ThreadDraws(), question -> {
            Supplier<Partitioner> partitioner = PARTITIONERS.get(question.get("strategy").asText());
            return partitioner == null
                    ? new Sticky(question)
                    : new Partitioners(question, partitioner.get(), new Batches(question));
        });
    }

    private static RecordAccumulator accumulator(int batchSize) {
        Metrics metrics = new Metrics();
        return new RecordAccumulator(new LogContext(), batchSize, Compression.NONE, 0, 100, 100, 120_000,
                new RecordAccumulator.PartitionerConfig(true, 0), metrics, GROUP, Time.SYSTEM, new ApiVersions(), null,
                new BufferPool(MEMORY, batchSize, metrics, Time.SYSTEM, GROUP));
    }

    private static final class Sticky extends BuiltIn {
        private final RecordAccumulator accumulator = StrategyAnswers.accumulator(batchSize);

        Sticky(JsonNode question) {
            super(question);
        }

        @Override
        protected BuiltInPartitioner made(String topic) {
            return new BuiltInPartitioner(new LogContext(), topic, batchSize);
        }

        @Override
        protected void load(BuiltInPartitioner sticky, int[] sizes, int[] ids, String[] racks, int length) {
            sticky.updatePartitionLoadStats(sizes, ids, length);
        }

        @Override
        protected void append(Sent record, int partition, Where where, Cluster cluster) throws InterruptedException {
            accumulator.append(record.topic(), partition, record.time(), record.key(), record.value(),
                    Record.EMPTY_HEADERS, where, 0, false, record.time(), cluster);
        }

        @Override
        protected RecordAccumulator accumulator() {
            return accumulator;
        }
    }

    private static final class Batches implements Partitioners.Batches {
        private final RecordAccumulator accumulator;

        Batches(JsonNode question) {
            accumulator = StrategyAnswers.accumulator(Math.max(1, question.path("configs").path("batch.size").asInt(16384)));
        }

        @Override
        public boolean append(Sent record, int partition, boolean mayBegin, Cluster cluster) throws InterruptedException {
            return !accumulator.append(record.topic(), partition, record.time(), record.key(), record.value(),
                    Record.EMPTY_HEADERS, null, 0, !mayBegin, record.time(), cluster).abortForNewBatch;
        }

        @Override
        public Object accumulator() {
            return accumulator;
        }
    }
}
