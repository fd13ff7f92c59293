// The cluster's metadata as a coordinator learns of it: topics that are created, grow and are deleted.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

/** One broker has them all, and no rack. */
final class CoordinatorTopics {
    private static final List<Integer> REPLICAS = List.of(0);

    private final Map<Uuid, String> names = new HashMap<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private final Map<String, Integer> largest = new HashMap<>();
    private MetadataImage image = MetadataImage.EMPTY;
    private long offset;

    /** The id that `ServerAnswers` makes of a name, too. */
    Uuid id(String topic) {
        UUID made = UUID.nameUUIDFromBytes(topic.getBytes(StandardCharsets.UTF_8));
        Uuid id = new Uuid(made.getMostSignificantBits(), made.getLeastSignificantBits());
        names.put(id, topic);
        return id;
    }

    /** The topic of an id. */
    String name(Uuid id) {
        return names.get(id);
    }

    /** How many partitions a topic has; 0 where it is not there. */
    int count(String topic) {
        return counts.getOrDefault(topic, 0);
    }

    /** From now on there are these topics, of so many partitions each. */
    void become(JsonNode topics, GroupCoordinatorService service) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        Map<String, Integer> wanted = new TreeMap<>();
        topics.properties().forEach(topic -> wanted.put(topic.getKey(), topic.getValue().asInt()));
        counts.keySet().stream()
                .filter(topic -> !wanted.containsKey(topic))
                .forEach(topic -> delta.replay(new RemoveTopicRecord().setTopicId(id(topic))));
        wanted.forEach((topic, count) -> {
            if (!counts.containsKey(topic)) {
                delta.replay(new TopicRecord().setName(topic).setTopicId(id(topic)));
            }
            // A topic that comes back has its ID again, and by that ID the coordinator knows its partitions.
            if (count < largest.merge(topic, count, Math::max)) {
                throw new IllegalArgumentException("a topic does not shrink: " + topic);
            }
            for (int partition = counts.getOrDefault(topic, 0); partition < count; partition++) {
                delta.replay(new PartitionRecord()
                        .setTopicId(id(topic))
                        .setPartitionId(partition)
                        .setReplicas(REPLICAS)
                        .setIsr(REPLICAS)
                        .setLeader(0)
                        .setLeaderEpoch(0)
                        .setPartitionEpoch(0));
            }
        });
        counts.clear();
        counts.putAll(wanted);
        image = delta.apply(new MetadataProvenance(++offset, 1, 0, true));
        service.onMetadataUpdate(delta, image);
    }
}
