// Answers questions about groups with the broker's own assignors: a group of JSON a line in, its assignment a line out.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;

/**
 * The first line out is the provenance. Each line in is an object with `assignor`, `topics`, `members` and maybe
 * `topic_ids`; its answer is `{"assignment": {member: [[topic, partition], ...]}, "topic_ids": {topic: id}}` with each
 * list sorted, or `{"error": "the exception's class"}` where the assignor throws, or `{"undetermined": true}` where
 * `SimpleAssignor` goes by the order of a `HashMap` of partitions and that by where they lie in memory. The group is put together as
 * `TargetAssignmentBuilder` does it: topics that the metadata lacks are in no subscription, but count where it is asked
 * whether all members subscribe to the same, and what a member owns is its target assignment as it is read from a record.
 */
public final class ServerAnswers {
    private static final Map<String, PartitionAssignor> ASSIGNORS = Map.of(
            "server-uniform", new UniformAssignor(),
            "server-range", new RangeAssignor(),
            "server-simple", new SimpleAssignor());

    /** The topics that are there, with how many partitions they have. */
    private final Map<String, Integer> counts = new LinkedHashMap<>();
    private final Map<String, Uuid> ids = new HashMap<>();
    private final Map<Uuid, String> names = new HashMap<>();
    private final JsonNode group;

    private ServerAnswers(JsonNode group) {
        this.group = group;
        group.get("topics").properties().forEach(topic -> counts.put(topic.getKey(), topic.getValue().asInt()));
    }

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Answers.answerLines(UniformAssignor.class, line -> {
            JsonNode group = Answers.JSON.readTree(line);
            boolean isOfMaps = group.get("assignor").asText().equals("server-simple") && group.has("topic_ids");
            try {
                return isOfMaps ? Groups.same(() -> new ServerAnswers(group).answer()) : new ServerAnswers(group).answer();
            } catch (Groups.UndeterminedException differs) {
                return JsonNodeFactory.instance.objectNode().put("undetermined", true);
            }
        });
    }

    private ObjectNode answer() {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        try {
            Map<String, MemberAssignment> assigned = ASSIGNORS.get(group.get("assignor").asText())
                    .assign(spec(), new Topics())
                    .members();
            ObjectNode lists = answer.putObject("assignment");
            for (JsonNode member : group.get("members")) {
                String id = member.get("id").asText();
                MemberAssignment found = assigned.getOrDefault(id, Assignment.EMPTY);
                Map<String, Set<Integer>> sorted = new TreeMap<>();
                found.partitions().forEach((topic, those) -> sorted.put(names.get(topic), new TreeSet<>(those)));
                ArrayNode list = lists.putArray(id);
                sorted.forEach((topic, those) -> those.forEach(each -> list.addArray().add(topic).add(each)));
            }
            ObjectNode used = answer.putObject("topic_ids");
            counts.keySet().forEach(topic -> used.put(topic, id(topic).toString()));
        } catch (RuntimeException refused) {
            answer.removeAll();
            answer.put("error", refused.getClass().getSimpleName());
        }
        return answer;
    }

    private GroupSpecImpl spec() {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<String, SubscriptionCount> subscribers = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (JsonNode member : group.get("members")) {
            Set<String> subscribed = new LinkedHashSet<>();
            member.get("topics").forEach(topic -> subscribed.add(topic.asText()));
            subscribed.forEach(topic -> subscribers.compute(topic, (name, count) -> SubscriptionCount.incNameCount(name, count)));
            Set<Uuid> known = new HashSet<>();
            subscribed.stream().filter(counts::containsKey).forEach(topic -> known.add(id(topic)));
            String id = member.get("id").asText();
            Assignment owned = owned(member.path("owned"));
            owned.partitions().forEach((topic, those) -> those.forEach(each ->
                    owners.computeIfAbsent(topic, absent -> new HashMap<>()).put(each, id)));
            members.put(id, new MemberSubscriptionAndAssignmentImpl(
                    text(member.get("rack")), text(member.get("instance_id")), known, owned));
        }
        return new GroupSpecImpl(
                Collections.unmodifiableMap(members), ModernGroup.subscriptionType(subscribers, members.size()), owners);
    }

    /** A target assignment out of its record: topics and partitions in the order given, each once. */
    private Assignment owned(JsonNode given) {
        Map<String, Set<Integer>> owned = new LinkedHashMap<>();
        if (given.isObject()) {
            given.properties().forEach(topic -> topic.getValue().forEach(
                    each -> owned.computeIfAbsent(topic.getKey(), absent -> new LinkedHashSet<>()).add(each.asInt())));
        } else {
            given.forEach(pair -> owned.computeIfAbsent(pair.get(0).asText(), absent -> new LinkedHashSet<>())
                    .add(pair.get(1).asInt()));
        }
        List<ConsumerGroupTargetAssignmentMemberValue.TopicPartition> record = new ArrayList<>();
        owned.forEach((topic, those) -> record.add(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                .setTopicId(id(topic))
                .setPartitions(List.copyOf(those))));
        return Assignment.fromRecord(new ConsumerGroupTargetAssignmentMemberValue().setTopicPartitions(record));
    }

    private Uuid id(String topic) {
        return ids.computeIfAbsent(topic, absent -> {
            JsonNode given = group.path("topic_ids").path(topic);
            UUID made = UUID.nameUUIDFromBytes(topic.getBytes(StandardCharsets.UTF_8));
            Uuid id = given.isTextual()
                    ? Uuid.fromString(given.asText())
                    : new Uuid(made.getMostSignificantBits(), made.getLeastSignificantBits());
            names.put(id, topic);
            return id;
        });
    }

    private static Optional<String> text(JsonNode given) {
        return given == null || given.isNull() ? Optional.empty() : Optional.of(given.asText());
    }

    /** The metadata, of which no assignor asks for racks. */
    private final class Topics implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            return counts.getOrDefault(names.get(topic), -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
