// Sends records without keys with Kafka's Java client: one line of JSON in says how, one out what the requests were.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * In: `{"config": {...}, "topic", "sizes": [...], "per_ms", "held_by"}`. A value of each size is sent, its first four bytes
 * the record's number; so many in each millisecond, or as fast as can be for 0. Where `held_by` names a topic, no batch
 * leaves before all records are in: a record to that topic comes first, and its callback holds the sender's thread.
 * Then the producer is flushed. Out: the producer's `METRICS` by their names.
 */
public final class BatchWriter {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] METRICS = {"request-latency-avg", "records-per-request-avg", "record-queue-time-avg"};

    private BatchWriter() {}

    public static void main(String[] arguments) throws Exception {
        JsonNode told = JSON.readTree(System.in);
        Map<String, Object> config = new HashMap<>();
        told.get("config").properties().forEach(each -> config.put(each.getKey(), each.getValue().asText()));
        var bytes = new ByteArraySerializer();
        var failed = new AtomicReference<Exception>();
        try (var producer = new KafkaProducer<byte[], byte[]>(config, bytes, bytes)) {
            // The first record must not wait for the metadata.
            producer.partitionsFor(told.get("topic").asText());
            CountDownLatch allAreIn = new CountDownLatch(1);
            if (told.hasNonNull("held_by")) {
                hold(producer, told, allAreIn);
            }
            try {
                send(producer, told, failed);
            } finally {
                // Otherwise the producer could not be closed.
                allAreIn.countDown();
            }
            producer.flush();
            if (failed.get() != null) {
                throw failed.get();
            }
            var answer = JSON.createObjectNode();
            producer.metrics().forEach((name, metric) -> {
                for (String wanted : METRICS) {
                    if (name.name().equals(wanted) && name.group().equals("producer-metrics")) {
                        answer.put(wanted, (double) metric.metricValue());
                    }
                }
            });
            System.out.println(answer);
        }
    }

    private static void hold(KafkaProducer<byte[], byte[]> producer, JsonNode told, CountDownLatch end)
            throws InterruptedException {
        CountDownLatch isHeld = new CountDownLatch(1);
        byte[] value = new byte[told.get("config").get("batch.size").asInt()];
        // The second record does not fit into the first one's batch, so that leaves at once, however long linger.ms is.
        for (int number = 0; number < 2; number++) {
            producer.send(new ProducerRecord<>(told.get("held_by").asText(), 0, null, value), (metadata, failure) -> {
                isHeld.countDown();
                try {
                    end.await();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        isHeld.await();
    }

    private static void send(
            KafkaProducer<byte[], byte[]> producer, JsonNode told, AtomicReference<Exception> failed) {
        JsonNode sizes = told.get("sizes");
        String topic = told.get("topic").asText();
        int perMs = told.get("per_ms").asInt();
        long start = System.nanoTime();
        for (int number = 0; number < sizes.size(); number++) {
            byte[] value = new byte[sizes.get(number).asInt()];
            ByteBuffer.wrap(value).putInt(number);
            if (perMs > 0) {
                waitUntil(start + TimeUnit.MILLISECONDS.toNanos(number / perMs));
            }
            producer.send(new ProducerRecord<>(topic, value), (metadata, failure) -> {
                if (failure != null) {
                    failed.set(failure);
                }
            });
        }
    }

    private static void waitUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
