// Shared by all programs over assignors: groups in JSON in, assignments in JSON out, and the objects for both.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * The first line out is the provenance. Each line in is an object with `assignor`, `topics`, `members` and `racks`;
 * its answer is `{"assignment": {member: [[topic, partition], ...]}}` with each list in the assignor's own order, or
 * `{"error": "the exception's class"}` where the assignor throws.
 */
public final class Groups {
    private static final int LONGEST_LIST = 8;
    private static final int TRIES = 16;

    private Groups() {}

    /** A real assignor: by member, in the order in which the answer is to have them, its partitions. */
    @FunctionalInterface
    public interface Assignor {
        /** Asks it about a group, for which it makes every object anew. */
        Map<String, List<TopicPartition>> assign(JsonNode group);
    }

    /** Reads standard input to its end. */
    public static void answer(String library, String version, Assignor assignor) throws Exception {
        Answers.answer(library, version, group -> answer(assignor, group));
    }

    /**
     * The same, if the answer may depend on the order of a `HashMap` of partitions: with more than eight of one hash
     * code, it depends on where objects are in memory. A group whose answers differ has the answer `{"undetermined": true}`.
     */
    public static void answerOfMaps(String library, String version, Assignor assignor) throws Exception {
        answer(library, version, group ->
                hasEqualHashes(group) ? same(() -> assignor.assign(group)) : assignor.assign(group));
    }

    /** An answer that is the same each time.
     *
     * @throws UndeterminedException It is not.
     */
    static <T> T same(Supplier<T> answers) {
        T first = answers.get();
        for (int left = TRIES; left > 0; left--) {
            if (!answers.get().equals(first)) {
                throw new UndeterminedException();
            }
        }
        return first;
    }

    private static ObjectNode answer(Assignor assignor, JsonNode group) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        try {
            ObjectNode lists = JsonNodeFactory.instance.objectNode();
            assignor.assign(group).forEach((member, partitions) -> {
                ArrayNode list = lists.putArray(member);
                partitions.forEach(partition -> list.addArray().add(partition.topic()).add(partition.partition()));
            });
            answer.set("assignment", lists);
        } catch (UndeterminedException differs) {
            answer.put("undetermined", true);
        } catch (RuntimeException refused) {
            answer.put("error", refused.getClass().getSimpleName());
        }
        return answer;
    }

    /** By member, in the order of the question, what it was given. */
    public static Map<String, List<TopicPartition>> lists(JsonNode group, Function<String, List<TopicPartition>> given) {
        Map<String, List<TopicPartition>> lists = new LinkedHashMap<>();
        group.get("members").forEach(member -> lists.put(member.get("id").asText(), given.apply(member.get("id").asText())));
        return lists;
    }

    private static boolean hasEqualHashes(JsonNode group) {
        Set<TopicPartition> all = new HashSet<>();
        group.get("topics").properties().forEach(topic -> {
            for (int partition = 0; partition < topic.getValue().asInt(); partition++) {
                all.add(new TopicPartition(topic.getKey(), partition));
            }
        });
        group.get("members").forEach(member -> all.addAll(owned(member)));
        Map<Integer, Integer> counts = new HashMap<>();
        all.forEach(partition -> counts.merge(partition.hashCode(), 1, Integer::sum));
        return counts.values().stream().anyMatch(count -> count > LONGEST_LIST);
    }

    /** What a member says that it owns. */
    public static List<TopicPartition> owned(JsonNode member) {
        List<TopicPartition> owned = new ArrayList<>();
        JsonNode given = member.path("owned");
        if (given.isObject()) {
            given.properties().forEach(topic ->
                    topic.getValue().forEach(partition -> owned.add(new TopicPartition(topic.getKey(), partition.asInt()))));
        } else {
            given.forEach(pair -> owned.add(new TopicPartition(pair.get(0).asText(), pair.get(1).asInt())));
        }
        return owned;
    }

    /** A member's subscription. */
    public static List<String> topics(JsonNode member) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        return topics;
    }

    /** The generation in which a member came to own what it owns, -1 where it says none. */
    public static int generation(JsonNode member) {
        return member.hasNonNull("generation") ? member.get("generation").asInt() : -1;
    }

    /** A field that may be missing. */
    public static Optional<String> text(JsonNode given) {
        return given == null || given.isNull() ? Optional.empty() : Optional.of(given.asText());
    }

    /** The topics, with a broker a rack. */
    public static Cluster cluster(JsonNode group) {
        List<PartitionInfo> partitions = new ArrayList<>();
        Map<String, Node> nodes = new HashMap<>();
        group.get("topics").properties().forEach(topic -> {
            JsonNode racks = group.path("racks").path(topic.getKey());
            for (int partition = 0; partition < topic.getValue().asInt(); partition++) {
                List<Node> replicas = new ArrayList<>();
                for (JsonNode rack : racks.path(partition)) {
                    String of = rack.isNull() ? null : rack.asText();
                    replicas.add(nodes.computeIfAbsent(
                            String.valueOf(of), key -> new Node(nodes.size(), "127.0.0.1", 1, of)));
                }
                Node[] all = replicas.toArray(new Node[0]);
                partitions.add(new PartitionInfo(topic.getKey(), partition, null, all, all));
            }
        });
        return new Cluster("golden", nodes.values(), partitions, Set.of(), Set.of());
    }

    static final class UndeterminedException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }
}
