// Answers questions about strategies with the producer classes of Kafka 2.8.
package partwright.v2_8;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.clients.producer.UniformStickyPartitioner;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.DefaultPartitioner;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import partwright.Partitioners;
import partwright.Strategies;
import partwright.Strategies.Sent;

/** `sticky@2.4`, `uniform-sticky@2.4` and `round-robin@2.8`. */
public final class StrategyAnswers {
    private static final Map<String, Supplier<Partitioner>> PARTITIONERS = Map.of(
            "sticky@2.4", DefaultPartitioner::new,
            "uniform-sticky@2.4", UniformStickyPartitioner::new,
            "round-robin@2.8", RoundRobinPartitioner::new);

    private StrategyAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Strategies.answer("kafka-clients", AppInfoParser.getVersion(), new Strategies.ThreadDraws(), question ->
                new Partitioners(question, partitioner(question), new Batches(question)));
    }

    /** A new partitioner, by its name in the question. */
    static Partitioner partitioner(JsonNode question) {
        return PARTITIONERS.get(question.get("strategy").asText()).get();
    }

    private static final class Batches implements Partitioners.Batches {
        private static final long MEMORY = 1L << 40;
        private static final String GROUP = "producer-metrics";
        private final RecordAccumulator accumulator;

        Batches(JsonNode question) {
            int batchSize = question.path("configs").path("batch.size").asInt(16384);
            Metrics metrics = new Metrics();
            accumulator = new RecordAccumulator(new LogContext(), batchSize, CompressionType.NONE, 0, 100, 120_000, metrics,
                    GROUP, Time.SYSTEM, new ApiVersions(), null,
                    new BufferPool(MEMORY, batchSize, metrics, Time.SYSTEM, GROUP));
        }

        @Override
        public boolean append(Sent record, int partition, boolean mayBegin, Cluster cluster) throws InterruptedException {
            return !accumulator.append(new TopicPartition(record.topic(), partition), record.time(), record.key(),
                    record.value(), Record.EMPTY_HEADERS, null, 0, !mayBegin, record.time()).abortForNewBatch;
        }

        @Override
        public Object accumulator() {
            return accumulator;
        }
    }
}
