// Answers questions about groups with the sticky assignor of Kafka 2.3: a group of JSON a line in, its assignment a line out.
package partwright.v2_3;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.PartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.internals.PartitionAssignor.Subscription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.AppInfoParser;
import partwright.Groups;

/** The assignor is a new one for each group, as in the other programs. */
public final class StickyAnswers {
    private StickyAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Groups.answerOfMaps("kafka-clients", AppInfoParser.getVersion(), StickyAnswers::assign);
    }

    private static Map<String, List<TopicPartition>> assign(JsonNode group) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : group.get("members")) {
            subscriptions.put(member.get("id").asText(), subscription(member));
        }
        Map<String, Assignment> assigned = new StickyAssignor().assign(Groups.cluster(group), subscriptions);
        return Groups.lists(group, member -> assigned.get(member).partitions());
    }

    /** What a member sends when it joins: its user data is what its own assignor makes of its last assignment. */
    private static Subscription subscription(JsonNode member) {
        List<String> topics = Groups.topics(member);
        StickyAssignor own = new StickyAssignor();
        if (member.hasNonNull("owned")) {
            own.onAssignment(new Assignment(Groups.owned(member)), Groups.generation(member));
        }
        return new Subscription(topics, own.subscription(Set.copyOf(topics)).userData());
    }
}
