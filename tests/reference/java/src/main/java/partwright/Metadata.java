// A producer's metadata, made from a question's JSON, in its order.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;

/** The `brokers` and `topics` of a question; a topic's partitions may change. */
public final class Metadata {
    private static final Node[] NONE = {};
    private final Map<Integer, Node> brokers = new HashMap<>();
    private final Map<String, List<PartitionInfo>> topics = new LinkedHashMap<>();
    private Cluster cluster;

    /** Reads a question. */
    public Metadata(JsonNode question) {
        for (JsonNode broker : question.path("brokers")) {
            int id = broker.get("id").asInt();
            brokers.put(id, new Node(id, "127.0.0.1", 1, broker.hasNonNull("rack") ? broker.get("rack").asText() : null));
        }
        question.path("topics").properties().forEach(topic -> change(topic.getKey(), topic.getValue()));
    }

    /** Takes in new partitions of a topic. */
    public void change(String topic, JsonNode given) {
        List<PartitionInfo> partitions = new ArrayList<>();
        for (JsonNode partition : given) {
            Node leader = partition.hasNonNull("leader")
                    ? brokers.computeIfAbsent(partition.get("leader").asInt(), id -> new Node(id, "127.0.0.1", 1, null))
                    : null;
            partitions.add(new PartitionInfo(topic, partition.get("id").asInt(), leader, NONE, NONE));
        }
        topics.put(topic, partitions);
        List<PartitionInfo> all = new ArrayList<>();
        topics.values().forEach(all::addAll);
        cluster = new Cluster("golden", brokers.values(), all, Set.of(), Set.of());
    }

    /** What strategies are given. */
    public Cluster cluster() {
        if (cluster == null) {
            cluster = new Cluster("golden", brokers.values(), List.of(), Set.of(), Set.of());
        }
        return cluster;
    }
}
