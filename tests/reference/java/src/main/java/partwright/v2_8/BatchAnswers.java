// Answers scenarios of batches with the accumulator of Kafka 2.8: a scenario of JSON a line in, what became of it a line out.
package partwright.v2_8;

import static partwright.BatchScenario.TOPIC;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.LogContext;
import partwright.BatchScenario;
import partwright.BatchScenario.Sent;
import partwright.BatchSender;

/** `sticky@2.4`, `uniform-sticky@2.4` and `round-robin@2.8`. */
public final class BatchAnswers {
    private BatchAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        BatchSender.answer(AppInfoParser.getVersion(), Asked::new);
    }

    private static final class Asked extends BatchSender {
        private static final long MEMORY = 1L << 40;
        private static final String GROUP = "producer-metrics";
        private final Partitioner partitioner;
        private final RecordAccumulator accumulator;

        Asked(JsonNode question) {
            super(new BatchScenario(question), false);
            partitioner = StrategyAnswers.partitioner(question);
            Metrics metrics = new Metrics();
            // 2.8's KafkaProducer hands a batch.size of 0 on as it is; its pool takes it, too.
            int batchSize = scenario.number("batch.size");
            accumulator = new RecordAccumulator(new LogContext(), batchSize, CompressionType.NONE,
                    scenario.number("linger.ms"), scenario.config.get("retry.backoff.ms").asLong(), Integer.MAX_VALUE,
                    metrics, GROUP, clock, new ApiVersions(), null,
                    new BufferPool(MEMORY, batchSize, metrics, clock, GROUP));
        }

        /** `KafkaProducer.doSend`, as far as it goes by the record and the partitioner. */
        @Override
        protected Appended append(Sent record) throws InterruptedException {
            int partition = partition(record);
            RecordAccumulator.RecordAppendResult result = append(record, partition, true);
            if (result.abortForNewBatch) {
                partitioner.onNewBatch(TOPIC, scenario.cluster, partition);
                partition = partition(record);
                result = append(record, partition, false);
            }
            return new Appended(partition, result.batchIsFull || result.newBatchCreated);
        }

        private int partition(Sent record) {
            return record.partition() != null
                    ? record.partition()
                    : partitioner.partition(TOPIC, record.key(), record.key(), record.value(), record.value(),
                            scenario.cluster);
        }

        private RecordAccumulator.RecordAppendResult append(Sent record, int partition, boolean abortOnNewBatch)
                throws InterruptedException {
            return accumulator.append(new TopicPartition(TOPIC, partition), record.time(), record.key(), record.value(),
                    record.headers(), null, 0, abortOnNewBatch, record.time());
        }

        @Override
        protected RecordAccumulator accumulator() {
            return accumulator;
        }

        @Override
        protected RecordAccumulator.ReadyCheckResult ready(long nowMs) {
            return accumulator.ready(scenario.cluster, nowMs);
        }

        /** There are no such statistics yet. */
        @Override
        protected void tell(int broker, long nowMs, boolean canDrain) {}

        @Override
        protected Map<Integer, List<ProducerBatch>> drain(Set<Node> brokers, long nowMs) {
            return accumulator.drain(scenario.cluster, brokers, scenario.number("max.request.size"), nowMs);
        }
    }
}
