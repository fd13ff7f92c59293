// Answers questions about groups with the assignors of Kafka 0.10's old consumer, which ZooKeeper leads.
package partwright.v0_10;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import kafka.common.TopicAndPartition;
import kafka.consumer.AssignmentContext;
import kafka.consumer.ConsumerThreadId;
import kafka.consumer.PartitionAssignor;
import kafka.consumer.RangeAssignor;
import kafka.consumer.RoundRobinAssignor;
import kafka.utils.ZkUtils;
import org.apache.kafka.common.TopicPartition;
import org.apache.zookeeper.data.Stat;
import partwright.Groups;
import scala.Option;
import scala.Tuple2;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * Each consumer asks its own assignor, over what it reads from ZooKeeper, and takes its own part of the answer. The
 * answer is a map, without an order: lists are sorted as partitions are dealt, by topic and number, or, of
 * `old-roundrobin`, by the hash code of the partition's text.
 */
public final class ThreadAnswers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String GROUP = "group";

    private ThreadAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Groups.answer("kafka_2.11", "0.10.2.2", ThreadAnswers::assign);
    }

    private static Map<String, List<TopicPartition>> assign(JsonNode group) {
        boolean roundRobin = group.get("assignor").asText().equals("old-roundrobin");
        PartitionAssignor assignor = roundRobin ? new RoundRobinAssignor() : new RangeAssignor();
        Comparator<TopicPartition> byName =
                Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);
        Comparator<TopicPartition> byHash = Comparator.comparing(partition -> text(partition).hashCode());
        Map<String, List<TopicPartition>> lists = new LinkedHashMap<>();
        for (JsonNode member : group.get("members")) {
            names(member).forEach(name -> lists.put(name, new ArrayList<>()));
        }
        ZooKeeper told = new ZooKeeper(group);
        for (String consumer : told.subscriptions.keySet()) {
            AssignmentContext context = new AssignmentContext(GROUP, consumer, false, told);
            JavaConverters.mapAsJavaMapConverter(assignor.assign(context).get(consumer)).asJava().forEach(
                    (partition, thread) -> lists.get(thread.toString())
                            .add(new TopicPartition(partition.topic(), partition.partition())));
        }
        lists.values().forEach(list -> list.sort(roundRobin ? byHash.thenComparing(byName) : byName));
        return lists;
    }

    private static String text(TopicPartition partition) {
        return new TopicAndPartition(partition.topic(), partition.partition()).toString();
    }

    /** A member's threads. */
    private static List<String> names(JsonNode member) {
        String id = member.get("id").asText();
        JsonNode streams = member.path("streams");
        int most = streams.asInt();
        for (JsonNode each : streams) {
            most = Math.max(most, each.asInt());
        }
        List<String> names = new ArrayList<>();
        for (int thread = 0; thread < most; thread++) {
            names.add(new ConsumerThreadId(id, thread).toString());
        }
        return names.isEmpty() ? List.of(id) : names;
    }

    /**
     * ZooKeeper, as far as assignors ask it. The real one lists consumers in no order. A member without `streams` is a
     * thread of a consumer, whose threads have numbers from 0 on.
     */
    private static final class ZooKeeper extends ZkUtils {
        /** By consumer, and by topic, how many streams it has. */
        private final Map<String, Map<String, Integer>> subscriptions = new TreeMap<>();
        private final Map<String, Integer> partitions = new HashMap<>();

        ZooKeeper(JsonNode group) {
            super(null, null, false);
            for (JsonNode member : group.get("members")) {
                String id = member.get("id").asText();
                boolean isThread = !member.has("streams");
                String consumer = isThread ? id.substring(0, id.lastIndexOf('-')) : id;
                Map<String, Integer> streams = subscriptions.computeIfAbsent(consumer, key -> new TreeMap<>());
                Set<String> topics = new HashSet<>(Groups.topics(member));
                JsonNode told = member.path("streams");
                topics.forEach(topic -> streams.merge(
                        topic, isThread ? 1 : told.path(topic).asInt(told.asInt()), Integer::sum));
            }
            group.get("topics").properties().forEach(topic -> partitions.put(topic.getKey(), topic.getValue().asInt()));
        }

        @Override
        public Seq<String> getChildren(String path) {
            return JavaConverters.asScalaBufferConverter(List.copyOf(subscriptions.keySet())).asScala().toSeq();
        }

        @Override
        public Seq<String> getChildrenParentMayNotExist(String path) {
            return getChildren(path);
        }

        @Override
        public Tuple2<String, Stat> readData(String path) {
            ObjectNode registered = JSON.createObjectNode().put("version", 1).put("pattern", "static");
            registered.set("subscription", JSON.valueToTree(subscriptions.get(name(path))));
            return new Tuple2<>(registered.toString(), null);
        }

        @Override
        public Tuple2<Option<String>, Stat> readDataMaybeNull(String path) {
            Integer count = partitions.get(name(path));
            ObjectNode topic = JSON.createObjectNode().put("version", 1);
            ObjectNode replicas = topic.putObject("partitions");
            for (int partition = 0; count != null && partition < count; partition++) {
                replicas.putArray(String.valueOf(partition)).add(0);
            }
            return new Tuple2<>(Option.apply(count == null ? null : topic.toString()), null);
        }

        private static String name(String path) {
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }
}
