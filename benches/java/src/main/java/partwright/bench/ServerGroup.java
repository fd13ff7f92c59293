// A group of the broker's own protocol as its coordinator holds it, made from a few numbers.
package partwright.bench;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Members `member-0`, `member-1`, ... and topics `topic-0`, `topic-1`, ..., whose ids are those of their names. Where
 * one joins, the others own what the same assignor gave them, and the group that is assigned is the grown one. Sets
 * of topics are shared by the members that subscribe to the same: Java's best form.
 */
final class ServerGroup implements SubscribedTopicDescriber {
    /** Who subscribes to what; `rust/server_assignors.rs` has the same words. */
    enum Shape {
        /** All to all topics. */
        EQUAL,
        /** The first member lacks one topic. */
        ONE_ODD,
        /** A fifth of the members has the first fifth of the topics, the next the first two, and so on. */
        NESTED,
        /** As in Kafka's own benchmark: a fifth of the members has a fifth of the topics, the next the next. */
        DISJOINT
    }

    private static final int FIFTHS = 5;

    final PartitionAssignor assignor;
    private final Shape shape;
    private final int members;
    private final int partitions;
    private final List<Uuid> topics = new ArrayList<>();
    private final Map<Uuid, Integer> numbers = new HashMap<>();
    private final Map<List<Integer>, Set<Uuid>> sets = new HashMap<>();
    private GroupSpecImpl spec;

    ServerGroup(String assignor, Shape shape, boolean joins, int members, int topics, int partitions) {
        this.assignor = assignor.equals("range") ? new RangeAssignor() : new UniformAssignor();
        this.shape = shape;
        this.members = members;
        this.partitions = partitions;
        for (int topic = 0; topic < topics; topic++) {
            UUID made = UUID.nameUUIDFromBytes(("topic-" + topic).getBytes(StandardCharsets.UTF_8));
            Uuid id = new Uuid(made.getMostSignificantBits(), made.getLeastSignificantBits());
            this.topics.add(id);
            numbers.put(id, topic);
        }
        spec = spec(members, Map.of());
        if (joins) {
            spec = spec(members + 1, assign().members());
        }
    }

    GroupAssignment assign() {
        return assignor.assign(spec, this);
    }

    /** The sum over all that was given of a hash of member, topic and partition, for the answers to be compared. */
    long checksum() {
        long sum = 0;
        for (Map.Entry<String, MemberAssignment> member : assign().members().entrySet()) {
            long number = Long.parseLong(member.getKey().substring("member-".length()));
            for (Map.Entry<Uuid, Set<Integer>> topic : member.getValue().partitions().entrySet()) {
                for (int partition : topic.getValue()) {
                    long one = (number * topics.size() + numbers.get(topic.getKey())) * partitions + partition;
                    one *= 0x9e3779b97f4a7c15L;
                    sum += (one ^ (one >>> 32)) * 0xbf58476d1ce4e5b9L;
                }
            }
        }
        return sum;
    }

    private GroupSpecImpl spec(int count, Map<String, MemberAssignment> before) {
        Map<String, MemberSubscriptionAndAssignmentImpl> specs = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (int member = 0; member < count; member++) {
            String id = "member-" + member;
            MemberAssignment owned = before.getOrDefault(id, Assignment.EMPTY);
            owned.partitions().forEach((topic, those) -> those.forEach(
                    each -> owners.computeIfAbsent(topic, absent -> new HashMap<>()).put(each, id)));
            specs.put(id, new MemberSubscriptionAndAssignmentImpl(
                    Optional.empty(), Optional.empty(), subscribed(member), new Assignment(owned.partitions())));
        }
        SubscriptionType type =
                shape == Shape.EQUAL ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        return new GroupSpecImpl(specs, type, owners);
    }

    private Set<Uuid> subscribed(int member) {
        int all = topics.size();
        int fifth = shape == Shape.NESTED ? member % FIFTHS : member * FIFTHS / members;
        List<Integer> span = List.of(0, all);
        // A member that joins has all topics, but among Kafka's buckets, where it has those of the last.
        if (shape == Shape.ONE_ODD && member == 0) {
            span = List.of(1, all);
        } else if (shape == Shape.NESTED && member < members) {
            span = List.of(0, all * (fifth + 1) / FIFTHS);
        } else if (shape == Shape.DISJOINT) {
            fifth = Math.min(fifth, FIFTHS - 1);
            span = List.of(all * fifth / FIFTHS, all * (fifth + 1) / FIFTHS);
        }
        return sets.computeIfAbsent(span, ends -> new HashSet<>(topics.subList(ends.get(0), ends.get(1))));
    }

    @Override
    public int numPartitions(Uuid topic) {
        return numbers.containsKey(topic) ? partitions : -1;
    }

    /** The broker's assignors of Kafka 4 do not ask. */
    @Override
    public Set<String> racksForPartition(Uuid topic, int partition) {
        return Set.of();
    }
}
