// A class of Kafka's interface Partitioner at work, in any version that has it, and the batches of which it learns.
package partwright;

import static partwright.Strategies.open;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;
import partwright.Strategies.Asked;
import partwright.Strategies.Sent;

/** What came after Kafka 2.3, and went with Kafka 4, is called by its name. */
public final class Partitioners implements Asked {
    private final Metadata metadata;
    private final Partitioner partitioner;
    private final Batches batches;
    private final Map<TopicPartition, Integer> placed = new HashMap<>();

    /** A version's record accumulator. */
    public interface Batches {
        /** Appends a record, if it need not begin a batch or may; whether it is appended. */
        boolean append(Sent record, int partition, boolean mayBegin, Cluster cluster) throws InterruptedException;

        /** The accumulator itself. */
        Object accumulator();
    }

    /** A new partitioner, and batches, none where it is not told of any. */
    public Partitioners(JsonNode question, Partitioner partitioner, Batches batches) throws ReflectiveOperationException {
        metadata = new Metadata(question);
        this.partitioner = partitioner;
        this.batches = batches;
        if (question.has("counters")) {
            @SuppressWarnings("unchecked") // It is declared as that.
            ConcurrentMap<String, AtomicInteger> counters =
                    (ConcurrentMap<String, AtomicInteger>) kept("topicCounterMap");
            question.get("counters").properties().forEach(
                    counter -> counters.put(counter.getKey(), new AtomicInteger(counter.getValue().asInt())));
        }
    }

    private Object kept(String name) throws ReflectiveOperationException {
        Field field = open(partitioner.getClass().getDeclaredField(name));
        return field.get(partitioner);
    }

    @Override
    public Integer happens(JsonNode event) throws ReflectiveOperationException {
        String topic = event.get("topic").asText();
        return switch (event.get("op").asText()) {
            case "partition" -> partition(topic, Strategies.key(event));
            case "on_new_batch" -> {
                onNewBatch(topic, event.get("prev").asInt());
                yield null;
            }
            case "next_partition" -> {
                Object cache = kept("stickyPartitionCache");
                Method next = cache.getClass().getMethod("nextPartition", String.class, Cluster.class, int.class);
                yield (Integer) next.invoke(cache, topic, metadata.cluster(), event.get("prev").asInt());
            }
            case "cluster" -> {
                metadata.change(topic, event.get("partitions"));
                yield null;
            }
            default -> throw new IllegalStateException(event.toString());
        };
    }

    private int partition(String topic, byte[] key) {
        return partitioner.partition(topic, key, key, null, null, metadata.cluster());
    }

    private void onNewBatch(String topic, int previous) throws ReflectiveOperationException {
        Method told = Stream.of(Partitioner.class.getMethods())
                .filter(method -> method.getName().equals("onNewBatch")).findAny().orElse(null);
        if (told != null) {
            told.invoke(partitioner, topic, metadata.cluster(), previous);
        }
    }

    /** `KafkaProducer.doSend`, as far as it goes by the record and the partitioner. */
    @Override
    public int place(JsonNode sent) throws ReflectiveOperationException, InterruptedException {
        Sent record = Sent.of(sent);
        int partition = chosen(record);
        if (batches == null) {
            return partition;
        }
        if (!batches.append(record, partition, false, metadata.cluster())) {
            onNewBatch(record.topic(), partition);
            partition = chosen(record);
            if (!batches.append(record, partition, true, metadata.cluster())) {
                throw new IllegalStateException("the accumulator has not appended " + sent);
            }
        }
        placed.merge(new TopicPartition(record.topic(), partition), 1, Integer::sum);
        return partition;
    }

    private int chosen(Sent record) {
        return record.partition() != null ? record.partition() : partition(record.topic(), record.key());
    }

    @Override
    public void check() throws ReflectiveOperationException {
        if (batches != null) {
            Strategies.check(batches.accumulator(), placed);
        }
    }
}
