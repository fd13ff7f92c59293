// Shared by scripts of both group protocols: requests at their times, answers as they come, states.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import partwright.Coordinator.Request;

/** One question. */
abstract class GroupScript {
    /** The last version of OffsetCommit that names topics. */
    private static final short BY_NAME = 9;
    private static final short BY_ID = 10;

    /** Who is asked. */
    protected final Coordinator coordinator;

    private final JsonNode question;
    private final ObjectNode answer = JsonNodeFactory.instance.objectNode();
    private final ArrayNode answers = JsonNodeFactory.instance.arrayNode();

    GroupScript(JsonNode question) throws ReflectiveOperationException {
        this.question = question;
        coordinator = new Coordinator(question.get("config"), question.path("topics"));
    }

    /** Plays it. */
    ObjectNode answer() throws ReflectiveOperationException {
        ArrayNode states = JsonNodeFactory.instance.arrayNode();
        int number = 0;
        for (JsonNode request : question.get("requests")) {
            long atMs = request.get("at_ms").asLong();
            coordinator.advanceTo(atMs);
            ask(number++, request);
            // A timer for no time at all is due now.
            coordinator.advanceTo(atMs);
            state(states.addObject());
        }
        state(states.addObject());
        write(answer);
        answer.set("answers", answers);
        answer.set("states", states);
        return answer;
    }

    /** Sends a request. */
    protected abstract void ask(int number, JsonNode request);

    /** Writes down how the group is. */
    protected abstract void state(ObjectNode state) throws ReflectiveOperationException;

    /** Writes what stands before the answers. */
    protected abstract void write(ObjectNode answer);

    /** A request has been answered, now. */
    protected ObjectNode answered(int number, short error) {
        return answers.addObject()
                .put("at_ms", coordinator.nowMs())
                .put("of", number)
                .put("error", Errors.forCode(error).name());
    }

    /** Commits an offset of each partition that the request names, or of one. */
    protected void commit(int number, String member, int generation, JsonNode request) {
        // Members of the consumer protocol are of a version that knows topics by their ids.
        short version = request.has("partitions") ? BY_ID : BY_NAME;
        List<OffsetCommitRequestTopic> topics = new ArrayList<>();
        request.path("partitions").properties().forEach(topic -> {
            List<OffsetCommitRequestPartition> partitions = new ArrayList<>();
            topic.getValue().forEach(partition -> partitions.add(partition(partition.asInt())));
            topics.add(new OffsetCommitRequestTopic()
                    .setName(topic.getKey())
                    .setTopicId(coordinator.topics.id(topic.getKey()))
                    .setPartitions(partitions));
        });
        if (topics.isEmpty()) {
            topics.add(new OffsetCommitRequestTopic().setName("t").setPartitions(List.of(partition(0))));
        }
        OffsetCommitRequestData data = new OffsetCommitRequestData()
                .setGroupId(Coordinator.GROUP)
                .setMemberId(member)
                .setGroupInstanceId(text(request, "instance_id"))
                .setGenerationIdOrMemberEpoch(generation)
                .setTopics(topics);
        coordinator.service
                .commitOffsets(new Request(version, ""), data, BufferSupplier.NO_CACHING)
                .thenAccept(said -> answered(number, error(said)));
    }

    /** One for all partitions: the coordinator refuses a commit as a whole. */
    private static short error(OffsetCommitResponseData said) {
        List<Short> errors = said.topics().stream()
                .flatMap(topic -> topic.partitions().stream())
                .map(OffsetCommitResponseData.OffsetCommitResponsePartition::errorCode)
                .distinct()
                .toList();
        if (errors.size() != 1) {
            throw new IllegalStateException("partitions are refused each for itself: " + said);
        }
        return errors.get(0);
    }

    private static OffsetCommitRequestPartition partition(int index) {
        return new OffsetCommitRequestPartition().setPartitionIndex(index).setCommittedOffset(1);
    }

    /** A text, or null. */
    protected static String text(JsonNode from, String name) {
        return from.hasNonNull(name) ? from.get(name).asText() : null;
    }
}
