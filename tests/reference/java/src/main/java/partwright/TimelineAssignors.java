// Kafka's own assignors, which say who is asked, about what, and which assignment arrives where.
package partwright;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;

/** By the names that Kafka has for them. */
final class TimelineAssignors {
    /** The classes to configure a consumer with. */
    static final Map<String, String> CLASSES = Map.of(
            "range", Range.class.getName(),
            "roundrobin", RoundRobin.class.getName(),
            "sticky", Sticky.class.getName(),
            "cooperative-sticky", Cooperative.class.getName());

    private TimelineAssignors() {}

    /** A consumer's client id is its name. */
    private static String clientId(Map<String, ?> configs) {
        return String.valueOf(configs.get("client.id"));
    }

    /** The leader is asked. */
    private static GroupAssignment assigned(String name, GroupSubscription asked, Supplier<GroupAssignment> assignor) {
        ObjectNode line = GroupTimeline.line(name, "assign");
        ObjectNode members = line.putObject("members");
        new TreeMap<>(asked.groupSubscription()).forEach((id, subscription) -> {
            ObjectNode member = members.putObject(id);
            member.put("instance_id", subscription.groupInstanceId().orElse(null));
            ArrayNode topics = member.putArray("topics");
            subscription.topics().forEach(topics::add);
            GroupTimeline.write(member.putArray("owned"), subscription.ownedPartitions());
        });
        GroupAssignment found = assignor.get();
        ObjectNode assignment = line.putObject("assignment");
        new TreeMap<>(found.groupAssignment())
                .forEach((id, given) -> GroupTimeline.write(assignment.putArray(id), given.partitions()));
        GroupTimeline.say(line);
        return found;
    }

    /** A member is told. */
    private static void told(String name, Assignment assignment, ConsumerGroupMetadata metadata) {
        ObjectNode line = GroupTimeline.line(name, "told");
        line.put("generation", metadata.generationId()).put("member_id", metadata.memberId());
        GroupTimeline.write(line.putArray("partitions"), List.copyOf(assignment.partitions()));
        GroupTimeline.say(line);
    }

    /** The range assignor. */
    public static final class Range extends RangeAssignor implements Configurable {
        private String name;

        @Override
        public void configure(Map<String, ?> configs) {
            name = clientId(configs);
        }

        @Override
        public GroupAssignment assign(Cluster metadata, GroupSubscription asked) {
            return assigned(name, asked, () -> super.assign(metadata, asked));
        }

        @Override
        public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
            super.onAssignment(assignment, metadata);
            told(name, assignment, metadata);
        }
    }

    /** The round-robin assignor. */
    public static final class RoundRobin extends RoundRobinAssignor implements Configurable {
        private String name;

        @Override
        public void configure(Map<String, ?> configs) {
            name = clientId(configs);
        }

        @Override
        public GroupAssignment assign(Cluster metadata, GroupSubscription asked) {
            return assigned(name, asked, () -> super.assign(metadata, asked));
        }

        @Override
        public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
            super.onAssignment(assignment, metadata);
            told(name, assignment, metadata);
        }
    }

    /** The eager sticky assignor. */
    public static final class Sticky extends StickyAssignor implements Configurable {
        private String name;

        @Override
        public void configure(Map<String, ?> configs) {
            name = clientId(configs);
        }

        @Override
        public GroupAssignment assign(Cluster metadata, GroupSubscription asked) {
            return assigned(name, asked, () -> super.assign(metadata, asked));
        }

        @Override
        public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
            super.onAssignment(assignment, metadata);
            told(name, assignment, metadata);
        }
    }

    /** The cooperative sticky assignor. */
    public static final class Cooperative extends CooperativeStickyAssignor implements Configurable {
        private String name;

        @Override
        public void configure(Map<String, ?> configs) {
            name = clientId(configs);
        }

        @Override
        public GroupAssignment assign(Cluster metadata, GroupSubscription asked) {
            return assigned(name, asked, () -> super.assign(metadata, asked));
        }

        @Override
        public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
            super.onAssignment(assignment, metadata);
            told(name, assignment, metadata);
        }
    }
}
