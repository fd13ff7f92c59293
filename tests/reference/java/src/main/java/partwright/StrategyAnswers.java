// Answers questions about strategies with Kafka's own producer classes: a question of JSON a line in, its partitions a line out.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import org.apache.kafka.common.utils.internals.LogContext;
import partwright.Strategies.Sent;

/** `sticky@4.4` and `round-robin`, which is told of no batches. */
public final class StrategyAnswers {
    private StrategyAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Strategies.answer("kafka-clients", AppInfoParser.getVersion(), new Strategies.ThreadDraws(), question ->
                question.get("strategy").asText().equals("round-robin")
                        ? new Partitioners(question, new RoundRobinPartitioner(), null)
                        : new Sticky(question));
    }

    private static final class Sticky extends BuiltIn {
        private static final long MEMORY = 1L << 40;
        private static final String GROUP = "producer-metrics";
        private final boolean rackAware;
        private final String rack;
        private final RecordAccumulator accumulator;

        Sticky(JsonNode question) {
            super(question);
            rackAware = question.path("configs").path("partitioner.rack.aware").asBoolean();
            rack = question.path("configs").path("client.rack").asText("");
            Metrics metrics = new Metrics();
            accumulator = new RecordAccumulator(new LogContext(), batchSize, Compression.NONE, 0, 100, 100, 120_000,
                    new RecordAccumulator.PartitionerConfig(true, 0, rackAware, rack), metrics, GROUP, Time.SYSTEM, null,
                    new BufferPool(MEMORY, batchSize, metrics, Time.SYSTEM, GROUP));
        }

        @Override
        protected BuiltInPartitioner made(String topic) {
            return new BuiltInPartitioner(new LogContext(), topic, batchSize, rackAware, rack);
        }

        @Override
        protected void load(BuiltInPartitioner sticky, int[] sizes, int[] ids, String[] racks, int length) {
            sticky.updatePartitionLoadStats(sizes, ids, racks, length);
        }

        @Override
        protected void append(Sent record, int partition, Where where, Cluster cluster) throws InterruptedException {
            accumulator.append(record.topic(), partition, record.time(), record.key(), record.value(),
                    Record.EMPTY_HEADERS, where, 0, record.time(), cluster);
        }

        @Override
        protected RecordAccumulator accumulator() {
            return accumulator;
        }
    }
}
