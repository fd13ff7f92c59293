// Answers questions about groups with Kafka's own assignors: a group of JSON a line in, its assignment a line out.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
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
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/** The assignor is a new one for each group: an old one remembers the highest generation that it has seen. */
public final class AssignorAnswers {
    private static final Map<String, Supplier<ConsumerPartitionAssignor>> ASSIGNORS = Map.of(
            "range", RangeAssignor::new,
            "roundrobin", RoundRobinAssignor::new,
            "sticky", StickyAssignor::new,
            "cooperative-sticky", CooperativeStickyAssignor::new);

    private AssignorAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Groups.answer("kafka-clients", AppInfoParser.getVersion(), AssignorAnswers::assign);
    }

    private static Map<String, List<TopicPartition>> assign(JsonNode group) {
        Map<String, Assignment> assigned = assignor(group)
                .assign(Groups.cluster(group), new GroupSubscription(subscriptions(group))).groupAssignment();
        return Groups.lists(group, member -> assigned.get(member).partitions());
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
        List<String> topics = Groups.topics(member);
        List<TopicPartition> owned = Groups.owned(member);
        int generation = Groups.generation(member);
        ConsumerPartitionAssignor own = ASSIGNORS.get(assignor).get();
        if (member.hasNonNull("owned")) {
            own.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("group", generation, "", Optional.empty()));
        }
        Subscription subscription = new Subscription(topics, own.subscriptionUserData(Set.copyOf(topics)), owned, generation,
                Groups.text(member.get("rack")));
        subscription.setGroupInstanceId(Groups.text(member.get("instance_id")));
        return subscription;
    }
}
