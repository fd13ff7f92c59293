// The consumer's assignors with the parameters of Kafka's ClientSideAssignorBenchmark, without its defects.
package partwright.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.common.TopicPartition;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import partwright.AssignorTimes;

/**
 * Kafka's own assigns the first group again where it says that one joins, and has every partition on every rack, so
 * that racks decide nothing. Here INCREMENTAL assigns the grown group, whose members own what they were given; and of
 * three racks, the first has half of the partitions' first replicas and of the members, the second a third, the last
 * a sixth, while each partition lacks one rack. `assignors.py` makes the same groups to take turns with ours.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = {"-Xms4g", "-Xmx4g"})
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Threads(1)
public class ClientAssignorBenchmark {
    private static final int FIFTHS = 5;
    /** Of six in a row: which rack. */
    private static final int[] RACK_OF_SIX = {0, 1, 0, 2, 0, 1};

    private static final int RACKS = 3;

    @Param({"100", "500", "1000", "5000", "10000"})
    public int memberCount;

    @Param({"5", "10", "50"})
    public int partitionsToMemberRatio;

    @Param({"10", "100", "1000"})
    public int topicCount;

    @Param({"true", "false"})
    public boolean isRackAware;

    @Param({"HOMOGENEOUS", "HETEROGENEOUS"})
    public String subscriptionModel;

    @Param({"RANGE", "COOPERATIVE_STICKY"})
    public String assignorType;

    @Param({"FULL", "INCREMENTAL"})
    public String assignmentType;

    private AssignorTimes times;

    /** Makes the group, grown where it grows. */
    @Setup(Level.Trial)
    public void setup() {
        boolean joins = assignmentType.equals("INCREMENTAL");
        ObjectNode group = group(joins ? memberCount - 1 : memberCount);
        if (joins) {
            Map<String, List<TopicPartition>> given = new AssignorTimes(group).lists();
            group.get("members").forEach(member -> {
                ArrayNode owned = ((ObjectNode) member).put("generation", 1).putArray("owned");
                given.get(member.get("id").asText())
                        .forEach(each -> owned.addArray().add(each.topic()).add(each.partition()));
            });
            addMember(group, memberCount - 1);
        }
        times = new AssignorTimes(group);
    }

    /** One assignment, by a new assignor: one that has answered remembers. */
    @Benchmark
    public GroupAssignment assign() {
        return times.assign();
    }

    private ObjectNode group(int members) {
        ObjectNode group = new ObjectMapper().createObjectNode();
        group.put("assignor", assignorType.equals("RANGE") ? "range" : "cooperative-sticky");
        int partitions = memberCount * partitionsToMemberRatio / topicCount;
        ObjectNode topics = group.putObject("topics");
        IntStream.range(0, topicCount).forEach(topic -> topics.put(topic(topic), partitions));
        if (isRackAware) {
            ObjectNode racks = group.putObject("racks");
            for (int topic = 0; topic < topicCount; topic++) {
                ArrayNode lists = racks.putArray(topic(topic));
                for (int partition = 0; partition < partitions; partition++) {
                    int first = RACK_OF_SIX[partition % RACK_OF_SIX.length];
                    lists.addArray().add(rack(first)).add(rack((first + 1) % RACKS));
                }
            }
        }
        group.putArray("members");
        IntStream.range(0, members).forEach(member -> addMember(group, member));
        return group;
    }

    private void addMember(ObjectNode group, int number) {
        ObjectNode member = ((ArrayNode) group.get("members")).addObject().put("id", "member" + number);
        if (isRackAware) {
            member.put("rack", rack(RACK_OF_SIX[number % RACK_OF_SIX.length]));
        }
        boolean isEqual = subscriptionModel.equals("HOMOGENEOUS");
        int fifth = (int) ((long) number * FIFTHS / memberCount);
        int first = isEqual ? 0 : topicCount * fifth / FIFTHS;
        int end = isEqual ? topicCount : topicCount * (fifth + 1) / FIFTHS;
        ArrayNode topics = member.putArray("topics");
        IntStream.range(first, end).forEach(topic -> topics.add(topic(topic)));
    }

    private static String topic(int number) {
        return "topic" + number;
    }

    private static String rack(int number) {
        return "rack" + number;
    }
}
