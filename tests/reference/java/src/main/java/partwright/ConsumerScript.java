// Plays one script of the consumer protocol (KIP-848) to a real coordinator: heartbeats, commits, topics that change.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData.TopicPartitions;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import partwright.Coordinator.Request;

/** Members choose their ids, so that a name is an id. */
final class ConsumerScript extends GroupScript {
    private final Map<String, Integer> epochs = new HashMap<>();
    private final Map<String, Map<String, Collection<Integer>>> assigned = new HashMap<>();

    ConsumerScript(JsonNode question) throws ReflectiveOperationException {
        super(question);
    }

    @Override
    protected void ask(int number, JsonNode request) {
        switch (request.get("request").asText()) {
            case "heartbeat" -> heartbeat(number, request);
            case "topics" -> coordinator.topics.become(request.get("topics"), coordinator.service);
            case "commit" -> commit(number, request.get("member").asText(""), epoch(request), request);
            case "move" -> coordinator.move();
            case "wait" -> { }
            default -> throw new IllegalArgumentException("unknown request: " + request);
        }
    }

    @Override
    protected void write(ObjectNode answer) {
        answer.putArray("ids");
    }

    /** What a request says, or else what its member was told last. */
    private int epoch(JsonNode request) {
        return request.hasNonNull("epoch")
                ? request.get("epoch").asInt()
                : epochs.getOrDefault(request.get("member").asText(), 0);
    }

    private void heartbeat(int number, JsonNode request) {
        String name = request.get("member").asText();
        ConsumerGroupHeartbeatRequestData data = new ConsumerGroupHeartbeatRequestData()
                .setGroupId(Coordinator.GROUP)
                .setMemberId(name)
                .setMemberEpoch(epoch(request))
                .setInstanceId(text(request, "instance_id"))
                .setRackId(text(request, "rack_id"))
                .setRebalanceTimeoutMs(request.get("rebalance_timeout_ms").asInt())
                .setServerAssignor(text(request, "assignor"));
        if (request.hasNonNull("topics")) {
            List<String> topics = new ArrayList<>();
            request.get("topics").forEach(topic -> topics.add(topic.asText()));
            data.setSubscribedTopicNames(topics);
        }
        data.setTopicPartitions(owned(name, request.get("owned")));
        coordinator.service
                .consumerGroupHeartbeat(
                        new Request(ConsumerGroupHeartbeatRequestData.HIGHEST_SUPPORTED_VERSION, name), data)
                .thenAccept(said -> {
                    ObjectNode answer = answered(number, said.errorCode());
                    if (said.errorCode() == Errors.NONE.code()) {
                        heard(name, answer, said);
                    }
                });
    }

    private void heard(String name, ObjectNode answer, ConsumerGroupHeartbeatResponseData said) {
        answer.put("epoch", said.memberEpoch()).putNull("assignment");
        answer.put("heartbeat_interval_ms", said.heartbeatIntervalMs());
        // A member that has left begins again.
        epochs.put(name, Math.max(said.memberEpoch(), 0));
        if (said.memberEpoch() < 0) {
            assigned.remove(name);
        }
        if (said.assignment() != null) {
            Map<Uuid, Collection<Integer>> given = new HashMap<>();
            said.assignment().topicPartitions().forEach(topic -> given.put(topic.topicId(), topic.partitions()));
            assigned.put(name, names(given));
            write(answer.putObject("assignment"), given);
        }
    }

    /** What a member says it owns; null where it does not say. */
    private List<TopicPartitions> owned(String name, JsonNode given) {
        Map<String, Collection<Integer>> owned = new TreeMap<>();
        if (given == null || given.isNull()) {
            return null;
        } else if (given.isTextual()) {
            owned.putAll(assigned.getOrDefault(name, Map.of()));
        } else {
            given.properties().forEach(topic -> topic.getValue().forEach(each ->
                    owned.computeIfAbsent(topic.getKey(), absent -> new ArrayList<>()).add(each.asInt())));
        }
        List<TopicPartitions> topics = new ArrayList<>();
        owned.forEach((topic, partitions) -> topics.add(new TopicPartitions()
                .setTopicId(coordinator.topics.id(topic))
                .setPartitions(List.copyOf(partitions))));
        return topics;
    }

    @Override
    protected void state(ObjectNode state) throws ReflectiveOperationException {
        Group found = coordinator.group();
        state.putNull("state").put("epoch", 0).put("assignment_epoch", 0);
        ObjectNode members = state.putObject("members");
        if (found == null) {
            return;
        }
        state.put("state", found.stateAsString());
        if (!(found instanceof ConsumerGroup group)) {
            // A commit without a member has created a group without a protocol.
            return;
        }
        state.put("epoch", group.groupEpoch())
                .put("assignment_epoch", group.assignmentEpoch());
        new TreeMap<>(group.members()).forEach((name, member) -> write(members.putObject(name), group, member));
    }

    private void write(ObjectNode one, ConsumerGroup group, ConsumerGroupMember member) {
        one.put("epoch", member.memberEpoch())
                .put("previous_epoch", member.previousMemberEpoch())
                .put("state", member.state().name());
        write(one.putObject("assigned"), partitions(member.assignedPartitions()));
        write(one.putObject("revoking"), partitions(member.partitionsPendingRevocation()));
        write(one.putObject("target"), group.targetAssignment(member.memberId()).partitions());
    }

    /** Without the epochs at which they were assigned. */
    private static Map<Uuid, Collection<Integer>> partitions(Map<Uuid, Map<Integer, Integer>> epochs) {
        Map<Uuid, Collection<Integer>> partitions = new HashMap<>();
        epochs.forEach((topic, those) -> partitions.put(topic, those.keySet()));
        return partitions;
    }

    private Map<String, Collection<Integer>> names(Map<Uuid, ? extends Collection<Integer>> topics) {
        Map<String, Collection<Integer>> names = new TreeMap<>();
        topics.forEach((topic, partitions) -> names.put(coordinator.topics.name(topic), new TreeSet<>(partitions)));
        return names;
    }

    private void write(ObjectNode object, Map<Uuid, ? extends Collection<Integer>> topics) {
        names(topics).forEach((topic, partitions) -> {
            ArrayNode list = object.putArray(topic);
            partitions.forEach(list::add);
        });
    }
}
