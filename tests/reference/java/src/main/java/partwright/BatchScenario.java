// A scenario of batches: the producer's input, and its brokers' behaviour.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** One topic, whose name is in no batch. */
public final class BatchScenario {
    /** The topic. */
    public static final String TOPIC = "t";

    /** As the scenario has it; `batch.size` of 0 is 1 to a producer. */
    public final JsonNode config;

    /** The metadata, in the scenario's order. */
    public final Cluster cluster;

    /** The records, in order. */
    public final List<Sent> records = new ArrayList<>();

    /** Where spans end in which a broker accepts no request. */
    public final SortedSet<Long> returns = new TreeSet<>();

    /** The requests whose batches come back. */
    public final Set<Integer> failed = new HashSet<>();

    /** Whether the sender runs after appends, too. */
    public final boolean eachAppend;

    /** From when on all is to leave; null where nothing is flushed. */
    public final Long flushMs;

    private final Map<Integer, JsonNode> brokers = new HashMap<>();

    /** One record. */
    public record Sent(long time, byte[] key, Integer partition, byte[] value, Header[] headers) {}

    /** Reads it. */
    public BatchScenario(JsonNode question) {
        config = question.get("config");
        Metadata metadata = new Metadata(question);
        metadata.change(TOPIC, question.get("partitions"));
        cluster = metadata.cluster();
        eachAppend = question.get("sender").asText().equals("each-append");
        flushMs = question.hasNonNull("flush_ms") ? question.get("flush_ms").asLong() : null;
        question.path("failed_requests").forEach(request -> failed.add(request.asInt()));
        for (JsonNode broker : question.get("brokers")) {
            brokers.put(broker.get("id").asInt(), broker);
            broker.path("away").forEach(span -> returns.add(span.get(1).asLong()));
        }
        question.get("records").forEach(record -> records.add(sent(record)));
    }

    private static Sent sent(JsonNode record) {
        JsonNode sizes = record.path(4);
        Header[] headers = new Header[sizes.size()];
        for (int place = 0; place < headers.length; place++) {
            headers[place] = new RecordHeader("h" + place, new byte[sizes.get(place).asInt()]);
        }
        return new Sent(
                record.get(0).asLong(),
                Strategies.bytes(record.get(1)),
                record.get(2).isNull() ? null : record.get(2).asInt(),
                record.get(3).isNull() ? null : new byte[record.get(3).asInt()],
                headers);
    }

    /** One of the settings that are whole numbers. */
    public int number(String name) {
        return config.get(name).asInt();
    }

    /** As KafkaProducer hands it on. */
    public int batchSize() {
        return Math.max(1, number("batch.size"));
    }

    /** How long a broker takes to answer. */
    public long latencyMs(int broker) {
        return brokers.get(broker).get("latency_ms").asLong();
    }

    /** Whether a broker accepts no request now. */
    public boolean isAway(int broker, long nowMs) {
        for (JsonNode span : brokers.get(broker).path("away")) {
            if (span.get(0).asLong() <= nowMs && nowMs < span.get(1).asLong()) {
                return true;
            }
        }
        return false;
    }
}
