// Answers questions about groups with Kafka's own assignors: a group of JSON a line in, its assignment a line out.
package partwright;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/**
 * The first line out is the provenance. Each line in is an object with `assignor`, `topics`, `members` and `racks`;
 * its answer is `{"assignment": {member: [[topic, partition], ...]}}` with each list in the assignor's own order, or
 * `{"error": "the exception's class"}` where the assignor throws. The assignor is a new one for each group: an old
 * one remembers the highest generation that it has seen.
 */
public final class AssignorAnswers {
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    private static final Map<String, Supplier<ConsumerPartitionAssignor>> ASSIGNORS = Map.of(
            "range", RangeAssignor::new,
            "roundrobin", RoundRobinAssignor::new,
            "sticky", StickyAssignor::new,
            "cooperative-sticky", CooperativeStickyAssignor::new);
    private static final int BUFFER = 1 << 16;

    private AssignorAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), BUFFER);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        ObjectNode provenance = JSON.createObjectNode();
        provenance.put("library", "kafka-clients").put("version", AppInfoParser.getVersion());
        out.append(JSON.writeValueAsString(provenance)).append('\n');
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.append(JSON.writeValueAsString(answer(JSON.readTree(line)))).append('\n');
        }
        out.flush();
    }

    private static ObjectNode answer(JsonNode group) {
        ConsumerPartitionAssignor assignor = assignor(group);
        Map<String, Subscription> subscriptions = subscriptions(group);
        ObjectNode answer = JSON.createObjectNode();
        try {
            Map<String, Assignment> assigned =
                    assignor.assign(cluster(group), new GroupSubscription(subscriptions)).groupAssignment();
            ObjectNode lists = answer.putObject("assignment");
            for (JsonNode member : group.get("members")) {
                String id = member.get("id").asText();
                ArrayNode list = lists.putArray(id);
                for (TopicPartition partition : assigned.get(id).partitions()) {
                    list.addArray().add(partition.topic()).add(partition.partition());
                }
            }
        } catch (RuntimeException refused) {
            answer.removeAll();
            answer.put("error", refused.getClass().getSimpleName());
        }
        return answer;
    }

    static ConsumerPartitionAssignor assignor(JsonNode group) {
        return ASSIGNORS.get(group.get("assignor").asText()).get();
    }

    /** The members in the map that the assignor gets. */
    static Map<String, Subscription> subscriptions(JsonNode group) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : group.get("members")) {
            subscriptions.put(member.get("id").asText(), subscription(group.get("assignor").asText(), member));
        }
        return subscriptions;
    }

    /** What a member sends when it joins: its user data is what its own assignor makes of its last assignment. */
    @SuppressWarnings("removal") // The constructor is the consumer's alone from Kafka 5 on; it has no other.
    private static Subscription subscription(String assignor, JsonNode member) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        List<TopicPartition> owned = owned(member.get("owned"));
        int generation = member.hasNonNull("generation") ? member.get("generation").asInt() : -1;
        ConsumerPartitionAssignor own = ASSIGNORS.get(assignor).get();
        if (member.hasNonNull("owned")) {
            own.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("group", generation, "", Optional.empty()));
        }
        Subscription subscription = new Subscription(
                topics, own.subscriptionUserData(Set.copyOf(topics)), owned, generation, text(member.get("rack")));
        subscription.setGroupInstanceId(text(member.get("instance_id")));
        return subscription;
    }

    private static List<TopicPartition> owned(JsonNode given) {
        List<TopicPartition> owned = new ArrayList<>();
        if (given != null && given.isObject()) {
            given.properties().forEach(topic ->
                    topic.getValue().forEach(partition -> owned.add(new TopicPartition(topic.getKey(), partition.asInt()))));
        } else if (given != null) {
            given.forEach(pair -> owned.add(new TopicPartition(pair.get(0).asText(), pair.get(1).asInt())));
        }
        return owned;
    }

    private static Optional<String> text(JsonNode given) {
        return given == null || given.isNull() ? Optional.empty() : Optional.of(given.asText());
    }

    static Cluster cluster(JsonNode group) {
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
}
