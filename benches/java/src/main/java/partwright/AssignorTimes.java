// Times Kafka's own assignors, turn by turn with a rival: a group of JSON in, then each empty line is another turn.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;

/**
 * A line with a group, as {@link Groups} reads it, has the checksum of the answer's lines `member, topic,
 * partition` for an answer, so that a rival can show that it does the same work. Each empty line after it has the
 * nanoseconds of one more `assign`, whose cluster and subscriptions are there already.
 */
public final class AssignorTimes {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final JsonNode group;
    private final Map<String, Subscription> subscriptions;
    private final Cluster cluster;

    /** Takes a group as {@link Groups} reads it. */
    public AssignorTimes(JsonNode group) {
        this.group = group;
        this.subscriptions = AssignorAnswers.subscriptions(group);
        this.cluster = Groups.cluster(group);
    }

    /** Reads standard input to its end. */
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        AssignorTimes current = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isEmpty()) {
                System.out.println(current.turn());
            } else {
                current = new AssignorTimes(JSON.readTree(line));
                System.out.println(current.checksum());
            }
        }
    }

    /** The nanoseconds of one assignment. */
    private long turn() {
        ConsumerPartitionAssignor assignor = ready();
        long began = System.nanoTime();
        assign(assignor);
        return System.nanoTime() - began;
    }

    /** One assignment. */
    public GroupAssignment assign() {
        return assign(ready());
    }

    /** The same by member, in the group's order. */
    public Map<String, List<TopicPartition>> lists() {
        Map<String, Assignment> assigned = assign().groupAssignment();
        Map<String, List<TopicPartition>> lists = new LinkedHashMap<>();
        for (JsonNode member : group.get("members")) {
            String id = member.get("id").asText();
            lists.put(id, assigned.get(id).partitions());
        }
        return lists;
    }

    /** A new assignor, for one that has answered remembers a generation; what members send is read to its end by each. */
    private ConsumerPartitionAssignor ready() {
        for (Subscription subscription : subscriptions.values()) {
            if (subscription.userData() != null) {
                subscription.userData().rewind();
            }
        }
        return AssignorAnswers.assignor(group);
    }

    private GroupAssignment assign(ConsumerPartitionAssignor assignor) {
        return assignor.assign(cluster, new GroupSubscription(subscriptions));
    }

    private long checksum() {
        CRC32 sum = new CRC32();
        lists().forEach((id, partitions) -> {
            for (TopicPartition partition : partitions) {
                String line = id + "\t" + partition.topic() + "\t" + partition.partition() + "\n";
                sum.update(line.getBytes(StandardCharsets.UTF_8));
            }
        });
        return sum.getValue();
    }
}
