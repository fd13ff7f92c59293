// The built-in partitioner at work, in the versions that have it: alone, or asked by the record accumulator.
package partwright;

import static partwright.Strategies.open;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;
import partwright.Strategies.Asked;
import partwright.Strategies.Sent;

/** What differs between the versions is left to theirs. */
public abstract class BuiltIn implements Asked {
    private static final Method PEEK = method("peekCurrentPartitionInfo", Cluster.class);
    private static final Method PARTITION;
    private static final Method NEXT = method("nextPartition", Cluster.class);
    private static final Method UPDATE =
            method("updatePartitionInfo", PEEK.getReturnType(), int.class, Cluster.class, boolean.class);

    static {
        try {
            PARTITION = open(PEEK.getReturnType().getDeclaredMethod("partition"));
        } catch (NoSuchMethodException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** As KafkaProducer hands it on. */
    protected final int batchSize;

    private final Metadata metadata;
    private final boolean ignoresKeys;
    private final Map<String, BuiltInPartitioner> topics = new HashMap<>();
    private final Map<TopicPartition, Integer> placed = new HashMap<>();

    /** Reads a question. */
    protected BuiltIn(JsonNode question) {
        metadata = new Metadata(question);
        batchSize = Math.max(1, question.path("configs").path("batch.size").asInt(16384));
        ignoresKeys = question.path("configs").path("partitioner.ignore.keys").asBoolean();
    }

    /** A topic's partitioner. */
    protected abstract BuiltInPartitioner made(String topic);

    /** Gives it load statistics. */
    protected abstract void load(BuiltInPartitioner sticky, int[] sizes, int[] ids, String[] racks, int length);

    /** Appends a record to the partition, or to any. */
    protected abstract void append(Sent record, int partition, Where where, Cluster cluster) throws InterruptedException;

    /** The accumulator. */
    protected abstract RecordAccumulator accumulator();

    private static Method method(String name, Class<?>... of) {
        try {
            return open(BuiltInPartitioner.class.getDeclaredMethod(name, of));
        } catch (NoSuchMethodException missing) {
            throw new IllegalStateException(missing);
        }
    }

    @Override
    public final Integer happens(JsonNode event) throws ReflectiveOperationException {
        String topic = event.get("topic").asText();
        BuiltInPartitioner sticky = topics.computeIfAbsent(topic, this::made);
        Cluster cluster = metadata.cluster();
        return switch (event.get("op").asText()) {
            case "partition" -> {
                int keyed = keyed(topic, Strategies.key(event));
                yield keyed == RecordMetadata.UNKNOWN_PARTITION
                        ? (Integer) PARTITION.invoke(PEEK.invoke(sticky, cluster))
                        : Integer.valueOf(keyed);
            }
            case "next_partition" -> (Integer) NEXT.invoke(sticky, cluster);
            case "append" -> {
                Object info = PEEK.invoke(sticky, cluster);
                UPDATE.invoke(sticky, info, event.get("bytes").asInt(), cluster, event.get("enable_switch").asBoolean());
                yield (Integer) PARTITION.invoke(info);
            }
            case "load_stats" -> {
                load(sticky, Strategies.numbers(event.path("queue_sizes")), Strategies.numbers(event.path("partition_ids")),
                        Strategies.texts(event.path("leader_racks")), event.get("length").asInt());
                yield null;
            }
            // The built-in partitioner only learns of bytes.
            case "on_new_batch" -> null;
            case "cluster" -> {
                metadata.change(topic, event.get("partitions"));
                yield null;
            }
            default -> throw new IllegalStateException(event.toString());
        };
    }

    /** `KafkaProducer.partition` of a record that names no partition itself. */
    private int keyed(String topic, byte[] key) {
        return key == null || ignoresKeys
                ? RecordMetadata.UNKNOWN_PARTITION
                : BuiltInPartitioner.partitionForKey(key, metadata.cluster().partitionsForTopic(topic).size());
    }

    @Override
    public final int place(JsonNode sent) throws InterruptedException {
        Sent record = Sent.of(sent);
        Where where = new Where();
        append(record, record.partition() != null ? record.partition() : keyed(record.topic(), record.key()), where,
                metadata.cluster());
        placed.merge(new TopicPartition(record.topic(), where.partition), 1, Integer::sum);
        return where.partition;
    }

    @Override
    public final void check() throws ReflectiveOperationException {
        Strategies.check(accumulator(), placed);
    }

    /** Is told where a record is appended. */
    public static final class Where implements RecordAccumulator.AppendCallbacks {
        private int partition = RecordMetadata.UNKNOWN_PARTITION;

        /** Where it was; before that, nowhere. */
        public int partition() {
            return partition;
        }

        @Override
        public void setPartition(int chosen) {
            partition = chosen;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception exception) {
            throw new IllegalStateException("nothing is sent");
        }
    }
}
