// Kafka's own assignors, which print who is asked, about what, and which assignment arrives where.
package partwright;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
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

    /** One of Kafka's, of a consumer whose client id is its name. */
    private abstract static class Told implements ConsumerPartitionAssignor, Configurable {
        private final ConsumerPartitionAssignor assignor;
        private String name;

        Told(ConsumerPartitionAssignor assignor) {
            this.assignor = assignor;
        }

        @Override
        public void configure(Map<String, ?> configs) {
            name = String.valueOf(configs.get("client.id"));
        }

        @Override
        public String name() {
            return assignor.name();
        }

        @Override
        public short version() {
            return assignor.version();
        }

        @Override
        public List<RebalanceProtocol> supportedProtocols() {
            return assignor.supportedProtocols();
        }

        @Override
        public ByteBuffer subscriptionUserData(Set<String> topics) {
            return assignor.subscriptionUserData(topics);
        }

        @Override
        public GroupAssignment assign(Cluster metadata, GroupSubscription asked) {
            return assigned(name, asked, () -> assignor.assign(metadata, asked));
        }

        @Override
        public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
            assignor.onAssignment(assignment, metadata);
            told(name, assignment, metadata);
        }
    }

    /** The range assignor. */
    public static final class Range extends Told {
        /** Kafka makes it by its name. */
        public Range() {
            super(new RangeAssignor());
        }
    }

    /** The round-robin assignor. */
    public static final class RoundRobin extends Told {
        /** Kafka makes it by its name. */
        public RoundRobin() {
            super(new RoundRobinAssignor());
        }
    }

    /** The eager sticky assignor. */
    public static final class Sticky extends Told {
        /** Kafka makes it by its name. */
        public Sticky() {
            super(new StickyAssignor());
        }
    }

    /** The cooperative sticky assignor. */
    public static final class Cooperative extends Told {
        /** Kafka makes it by its name. */
        public Cooperative() {
            super(new CooperativeStickyAssignor());
        }
    }
}
