// Writes tests/golden/assignors/java_partition_order.json: the orders in which Java walks its maps of Kafka's partitions.
package partwright;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;

/**
 * One case a line: partitions in the order in which they are put into a `new HashMap<>()`, their hash codes, and the
 * order in which the map is walked, as places in the list. Never more than eight have one hash code: Java has no
 * order for those, for it goes by where they lie in memory.
 */
public final class PartitionOrderVectors {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** A table of 64 bins or more has trees; multiples of this share a bin in one of up to 1,024. */
    private static final int SHARED = 1024;

    private PartitionOrderVectors() {}

    /** The one argument is the file to write. */
    public static void main(String[] args) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, List<TopicPartition>> partitions : cases().entrySet()) {
            lines.add("  " + JSON.writeValueAsString(vector(partitions.getKey(), partitions.getValue())));
        }
        Files.writeString(Path.of(args[0]), "[\n" + String.join(",\n", lines) + "\n]\n", StandardCharsets.US_ASCII);
    }

    private static Map<String, List<TopicPartition>> cases() {
        Random random = new Random(6);
        Map<String, List<TopicPartition>> cases = new LinkedHashMap<>();
        for (int size : new int[] {0, 1, 4, 12, 13, 60, 300}) {
            cases.put("one-topic/" + size, topics(1, size, 1));
            cases.put("topics/" + size, shuffled(random, topics(5, size / 5 + 1, 1)));
        }
        // Bins of one place: lists, trees, and trees that a growing table splits, by hash alone.
        for (int size : new int[] {8, 9, 12, 20, 40}) {
            cases.put("same-bin/" + size, shuffled(random, topics(1, size, SHARED)));
            List<TopicPartition> growing = new ArrayList<>(shuffled(random, topics(2, size, SHARED)));
            growing.addAll(topics(3, 30 * size, 1));
            cases.put("growing/" + size, growing.stream().distinct().toList());
        }
        return cases;
    }

    private static List<TopicPartition> topics(int topics, int partitions, int step) {
        List<TopicPartition> all = new ArrayList<>();
        for (int topic = 0; topic < topics; topic++) {
            for (int partition = 0; partition < partitions; partition++) {
                all.add(new TopicPartition("topic" + topic, partition * step));
            }
        }
        return all;
    }

    private static List<TopicPartition> shuffled(Random random, List<TopicPartition> partitions) {
        List<TopicPartition> shuffled = new ArrayList<>(partitions);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }

    private static ObjectNode vector(String name, List<TopicPartition> partitions) {
        Map<TopicPartition, Integer> places = new HashMap<>();
        partitions.forEach(partition -> places.put(partition, places.size()));
        ObjectNode vector = JSON.createObjectNode().put("name", name);
        ArrayNode pairs = vector.putArray("partitions");
        partitions.forEach(partition -> pairs.addArray().add(partition.topic()).add(partition.partition()));
        vector.set("hashes", JSON.valueToTree(partitions.stream().map(TopicPartition::hashCode).toList()));
        vector.set("walk", JSON.valueToTree(places.values()));
        return vector;
    }
}
