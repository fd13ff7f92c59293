// Answers scenarios of batches with the accumulator of Kafka 3.9: a scenario of JSON a line in, what became of it a line out.
package partwright.v3_9;

import static partwright.BatchScenario.TOPIC;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.LogContext;
import partwright.BatchScenario;
import partwright.BatchScenario.Sent;
import partwright.BatchSender;
import partwright.BuiltIn;
import partwright.BuiltInSender;

/** `sticky@3.3`, in its last version. */
public final class BatchAnswers {
    private BatchAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        BatchSender.answer(AppInfoParser.getVersion(), question -> new Sticky(new BatchScenario(question)));
    }

    private static final class Sticky extends BuiltInSender {
        private final RecordAccumulator accumulator;

        Sticky(BatchScenario scenario) {
            super(scenario);
            Metrics metrics = new Metrics();
            JsonNode config = scenario.config;
            long backoffMs = config.get("retry.backoff.ms").asLong();
            // Where a backoff is its own maximum, it neither grows nor varies.
            accumulator = new RecordAccumulator(new LogContext(), scenario.batchSize(), Compression.NONE,
                    scenario.number("linger.ms"), backoffMs, backoffMs, Integer.MAX_VALUE,
                    new RecordAccumulator.PartitionerConfig(
                            config.get("partitioner.adaptive.partitioning.enable").asBoolean(),
                            config.get("partitioner.availability.timeout.ms").asLong()),
                    metrics, GROUP, clock, new ApiVersions(), null,
                    new BufferPool(MEMORY, scenario.batchSize(), metrics, clock, GROUP));
        }

        @Override
        protected RecordAccumulator.RecordAppendResult append(Sent record, int partition, BuiltIn.Where where)
                throws InterruptedException {
            return accumulator.append(TOPIC, partition, record.time(), record.key(), record.value(), record.headers(),
                    where, 0, false, record.time(), scenario.cluster);
        }

        @Override
        protected RecordAccumulator accumulator() {
            return accumulator;
        }
    }
}
