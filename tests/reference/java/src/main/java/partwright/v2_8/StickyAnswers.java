// Answers questions about groups with the sticky assignors of Kafka 2.8: a group of JSON a line in, its assignment a line out.
package partwright.v2_8;

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
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.AppInfoParser;
import partwright.Groups;

/** The assignor is a new one for each group, as in the other programs. */
public final class StickyAnswers {
    private static final String COOPERATIVE = "cooperative-sticky@2.8";
    private static final Map<String, Supplier<ConsumerPartitionAssignor>> ASSIGNORS =
            Map.of("sticky@2.8", StickyAssignor::new, COOPERATIVE, CooperativeStickyAssignor::new);

    private StickyAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Groups.answerOfMaps("kafka-clients", AppInfoParser.getVersion(), StickyAnswers::assign);
    }

    private static Map<String, List<TopicPartition>> assign(JsonNode group) {
        String name = group.get("assignor").asText();
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : group.get("members")) {
            subscriptions.put(member.get("id").asText(), subscription(name, member));
        }
        Map<String, Assignment> assigned = ASSIGNORS.get(name).get()
                .assign(Groups.cluster(group), new GroupSubscription(subscriptions)).groupAssignment();
        return Groups.lists(group, member -> assigned.get(member).partitions());
    }

    /**
     * What a member sends when it joins: its user data is what its own assignor makes of its last assignment. That of a
     * cooperative one is the generation alone; what it owns is the consumer's to say.
     */
    private static Subscription subscription(String assignor, JsonNode member) {
        List<String> topics = Groups.topics(member);
        List<TopicPartition> owned = Groups.owned(member);
        ConsumerPartitionAssignor own = ASSIGNORS.get(assignor).get();
        if (member.hasNonNull("owned") || assignor.equals(COOPERATIVE)) {
            own.onAssignment(new Assignment(owned),
                    new ConsumerGroupMetadata("group", Groups.generation(member), "", Optional.empty()));
        }
        Subscription subscription = new Subscription(topics, own.subscriptionUserData(Set.copyOf(topics)), owned);
        subscription.setGroupInstanceId(Groups.text(member.get("instance_id")));
        return subscription;
    }
}
