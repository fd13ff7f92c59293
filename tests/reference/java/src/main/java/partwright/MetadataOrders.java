// Asks Kafka's own client for the order in which it sees the partitions of topics; shared by the versions of Kafka.
package partwright;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseBroker;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.MetadataResponse;

/**
 * One case a line: `rounds` of topics with their numbers of partitions, as a producer learns of them: the first by a full
 * answer of the broker, each other by a partial one (`Metadata.update`), always in ascending order. Then what
 * `Cluster.partitionsForTopic` says of each topic, `order`, and of those partitions that have a leader (`leaderless` have
 * none, or one that is no live broker), `available`. No bin that becomes a tree has partitions of one hash
 * code: Java has no order for those, for it goes by where they lie in memory.
 */
public final class MetadataOrders {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** The first whose leader epochs count. */
    private static final short VERSION = 9;
    private static final int BROKERS = 3;
    /** Of a table that has trees, and of a bin that is none. */
    private static final int FEWEST_BINS = 64;
    private static final int LONGEST_LIST = 8;
    private static final int[] SIZES = {1, 2, 3, 4, 5, 7, 11, 12, 13, 16, 17, 24, 25, 48, 50, 97, 100, 193, 385, 500};

    private MetadataOrders() {}

    /** Writes a file of all cases, asking a new metadata each time: the arguments are the file, and another seed. */
    public static void write(String[] args, Class<?> program, String version, Supplier<Metadata> made)
            throws IOException {
        List<String> lines = new ArrayList<>();
        ObjectNode provenance = JSON.createObjectNode();
        provenance.put("library", "kafka-clients").put("version", version).put("program", program.getName());
        lines.add("  " + JSON.writeValueAsString(provenance));
        Random random = new Random(args.length > 1 ? Long.parseLong(args[1]) : 6);
        for (Map.Entry<String, List<Map<String, Integer>>> rounds : cases(random).entrySet()) {
            if (isDetermined(rounds.getValue())) {
                lines.add("  " + JSON.writeValueAsString(vector(rounds.getKey(), rounds.getValue(), made.get(), random)));
            }
        }
        Files.writeString(Path.of(args[0]), "[\n" + String.join(",\n", lines) + "\n]\n", StandardCharsets.US_ASCII);
    }

    private static Map<String, List<Map<String, Integer>>> cases(Random random) {
        Map<String, List<Map<String, Integer>>> cases = new LinkedHashMap<>();
        for (String name : List.of("test", "topicA", "orders")) {
            cases.put("one/" + name, List.of(Map.of(name, 12)));
        }
        for (int size : SIZES) {
            cases.put("one/" + size, List.of(Map.of("flights.2013", size)));
        }
        for (int number = 0; number < 30; number++) {
            cases.put("several/" + number, List.of(some(random, 2 + random.nextInt(7), 40)));
        }
        for (int number = 0; number < 30; number++) {
            List<Map<String, Integer>> rounds = new ArrayList<>();
            for (int round = 2 + random.nextInt(4); round > 0; round--) {
                Map<String, Integer> learned = new LinkedHashMap<>();
                String prefix = rounds.size() + "";
                some(random, 1 + random.nextInt(2), 40).forEach((name, count) -> learned.put(prefix + name, count));
                rounds.add(learned);
            }
            cases.put("learned/" + number, rounds);
        }
        // Numbered topics: a partition of one and another one's next have the same hash code.
        for (int count : new int[] {2, 5, 8}) {
            Map<String, Integer> numbered = new LinkedHashMap<>();
            IntStream.range(0, count).forEach(number -> numbered.put("t" + number + "0", 11 + 3 * number));
            cases.put("same-hash/" + count, List.of(numbered));
        }
        // Bins of many keys with different hash codes: the table grows early, and then they are trees.
        for (int size : new int[] {8, 9, 10, 12, 20, 40}) {
            cases.put("same-bin/" + size, List.of(ofOneBin(random, size, 1)));
            Map<String, Integer> growing = ofOneBin(random, size, 3);
            growing.putAll(some(random, size, 30));
            cases.put("growing/" + size, List.of(growing));
        }
        return cases;
    }

    private static Map<String, Integer> some(Random random, int topics, int most) {
        Map<String, Integer> some = new LinkedHashMap<>();
        while (some.size() < topics) {
            String letters = random.ints(1 + random.nextInt(12), 'a', 'z' + 1)
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
            some.put(letters, 1 + random.nextInt(most));
        }
        return some;
    }

    /** Topics whose first partitions share a bin in a table of up to 256. */
    private static Map<String, Integer> ofOneBin(Random random, int topics, int partitions) {
        Map<String, Integer> those = new LinkedHashMap<>();
        while (those.size() < topics) {
            String name = "k" + random.nextInt(1_000_000);
            int hash = new TopicPartition(name, 0).hashCode();
            if (((hash ^ hash >>> 16) & 255) == 7) {
                those.put(name, partitions);
            }
        }
        return those;
    }

    /** Whether no bin becomes a tree that has keys of one hash code. */
    private static boolean isDetermined(List<Map<String, Integer>> rounds) {
        List<Integer> hashes = new ArrayList<>();
        for (Map<String, Integer> topics : rounds) {
            topics.forEach((name, count) -> IntStream.range(0, count).forEach(partition ->
                    hashes.add(new TopicPartition(name, partition).hashCode())));
        }
        // With partial answers a table begins smaller.
        int fewest = rounds.size() > 1 ? FEWEST_BINS : Math.max(FEWEST_BINS, Integer.highestOneBit(hashes.size()));
        Map<Integer, List<Integer>> bins = hashes.stream()
                .collect(Collectors.groupingBy(hash -> (hash ^ hash >>> 16) & fewest - 1));
        return bins.values().stream().allMatch(bin ->
                bin.size() <= LONGEST_LIST || bin.stream().distinct().count() == bin.size());
    }

    private static ObjectNode vector(
            String name, List<Map<String, Integer>> rounds, Metadata metadata, Random random) {
        ObjectNode vector = JSON.createObjectNode().put("name", name);
        ObjectNode leaderless = JSON.createObjectNode();
        ArrayNode told = vector.putArray("rounds");
        for (Map<String, Integer> topics : rounds) {
            MetadataResponse response = new MetadataResponse(answer(topics, leaderless, random), VERSION);
            metadata.updateWithCurrentRequestVersion(response, !told.isEmpty(), 0);
            ArrayNode round = told.addArray();
            topics.forEach((topic, count) -> round.addArray().add(topic).add(count));
        }
        vector.set("leaderless", leaderless);
        Cluster cluster = metadata.fetch();
        ObjectNode order = vector.putObject("order");
        ObjectNode available = vector.putObject("available");
        for (Map<String, Integer> topics : rounds) {
            for (String topic : topics.keySet()) {
                order.set(topic, JSON.valueToTree(numbers(cluster.partitionsForTopic(topic))));
                if (leaderless.has(topic)) {
                    available.set(topic, JSON.valueToTree(numbers(cluster.availablePartitionsForTopic(topic))));
                }
            }
        }
        return vector;
    }

    private static List<Integer> numbers(List<PartitionInfo> partitions) {
        return partitions.stream().map(PartitionInfo::partition).toList();
    }

    private static MetadataResponseData answer(Map<String, Integer> topics, ObjectNode leaderless, Random random) {
        MetadataResponseData answer = new MetadataResponseData().setClusterId("cluster").setControllerId(0);
        for (int broker = 0; broker < BROKERS; broker++) {
            answer.brokers().add(new MetadataResponseBroker().setNodeId(broker).setHost("localhost").setPort(1 + broker));
        }
        topics.forEach((name, count) -> {
            MetadataResponseTopic topic = new MetadataResponseTopic().setName(name);
            boolean allLed = random.nextInt(3) > 0;
            for (int partition = 0; partition < count; partition++) {
                int leader = allLed ? partition % BROKERS : random.nextInt(BROKERS + 2) - 1;
                if (leader < 0 || leader >= BROKERS) {
                    leaderless.withArray(name).add(partition);
                }
                topic.partitions().add(new MetadataResponsePartition()
                        .setErrorCode((leader < 0 ? Errors.LEADER_NOT_AVAILABLE : Errors.NONE).code())
                        .setPartitionIndex(partition)
                        .setLeaderId(leader)
                        .setReplicaNodes(List.of(0, 1, 2))
                        .setIsrNodes(List.of(0, 1, 2))
                        .setOfflineReplicas(List.of()));
            }
            answer.topics().add(topic);
        });
        return answer;
    }
}
