// Answers scenarios of batches with Kafka's own accumulator: a line with a scenario in JSON in, a line with its result out.
package partwright;

import static partwright.BatchScenario.TOPIC;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import org.apache.kafka.common.utils.internals.LogContext;
import partwright.BatchScenario.Sent;

/** `sticky@4.4`. */
public final class BatchAnswers {
    private BatchAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        BatchSender.answer(AppInfoParser.getVersion(), question -> new Today(new BatchScenario(question)));
    }

    private static final class Today extends BuiltInSender {
        private final RecordAccumulator accumulator;

        Today(BatchScenario scenario) {
            super(scenario);
            Metrics metrics = new Metrics();
            JsonNode config = scenario.config;
            long backoffMs = config.get("retry.backoff.ms").asLong();
            // If a backoff is its own maximum, it neither grows nor varies.
            accumulator = new RecordAccumulator(new LogContext(), scenario.batchSize(), Compression.NONE,
                    scenario.number("linger.ms"), backoffMs, backoffMs, Integer.MAX_VALUE,
                    new RecordAccumulator.PartitionerConfig(
                            config.get("partitioner.adaptive.partitioning.enable").asBoolean(),
                            config.get("partitioner.availability.timeout.ms").asLong(),
                            config.get("partitioner.rack.aware").asBoolean(),
                            config.get("client.rack").asText()),
                    metrics, GROUP, clock, null, new BufferPool(MEMORY, scenario.batchSize(), metrics, clock, GROUP));
        }

        @Override
        protected RecordAccumulator.RecordAppendResult append(Sent record, int partition, BuiltIn.Where where)
                throws InterruptedException {
            return accumulator.append(TOPIC, partition, record.time(), record.key(), record.value(), record.headers(),
                    where, 0, record.time(), scenario.cluster);
        }

        @Override
        protected RecordAccumulator accumulator() {
            return accumulator;
        }
    }
}
