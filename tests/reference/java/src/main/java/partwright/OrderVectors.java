// Writes tests/golden/assignors/java_order.json: the orders of Java's own maps and strings, as Java itself walks them.
package partwright;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * One case a line: names in the order in which they are put into a `new HashMap<>()`, their hash codes, and, as
 * places in the list of names, the order in which the map is walked and the order in which the names are sorted.
 */
public final class OrderVectors {
    private static final ObjectMapper JSON = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    private static final int[] SIZES = {0, 1, 4, 12, 13, 24, 25, 48, 49, 97, 200, 1000};
    private static final String[] LETTERS = {"\u00e9", "\uff45", "\ud83d\ude00", "\uff5e", "z", "", "\u0000"};

    private OrderVectors() {}

    /** The one argument is the file to write. */
    public static void main(String[] args) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, List<String>> names : cases().entrySet()) {
            lines.add("  " + JSON.writeValueAsString(vector(names.getKey(), names.getValue())));
        }
        Files.writeString(Path.of(args[0]), "[\n" + String.join(",\n", lines) + "\n]\n", StandardCharsets.US_ASCII);
    }

    private static Map<String, List<String>> cases() {
        SplittableRandom random = new SplittableRandom(6);
        Map<String, List<String>> cases = new LinkedHashMap<>();
        for (int size : SIZES) {
            cases.put("members/" + size, numbered("member-", size));
            cases.put("consumers/" + size, shuffled(random, numbered("consumer", size)));
            cases.put("letters/" + size, shuffled(random, distinct(size, number ->
                    LETTERS[number % LETTERS.length] + number / LETTERS.length)));
            cases.put("uuids/" + size, distinct(size, number -> new UUID(random.nextLong(), random.nextLong()).toString()));
        }
        // Equal hash codes: bins grow past eight, the table with them, and then they become trees.
        for (int size : new int[] {8, 9, 10, 11, 12, 16, 40, 120}) {
            cases.put("colliding/" + size, shuffled(random, distinct(size, number -> colliding(number, 7))));
            List<String> mixed = new ArrayList<>(numbered("member-", 3 * size));
            mixed.addAll(distinct(size, number -> colliding(number, 7)));
            cases.put("mixed/" + size, shuffled(random, mixed));
            // Equal in their last bits alone, so that trees are split when the table grows.
            cases.put("same-bucket/" + size, sameBucket(random, size));
            List<String> growing = new ArrayList<>(sameBucket(random, size));
            growing.addAll(shuffled(random, numbered("m", 20 * size)));
            cases.put("growing/" + size, growing);
        }
        return cases;
    }

    private static ObjectNode vector(String name, List<String> names) {
        Map<String, Integer> places = new HashMap<>();
        Map<String, Boolean> walked = new HashMap<>();
        for (String text : names) {
            places.put(text, places.size());
            walked.put(text, true);
        }
        ObjectNode vector = JSON.createObjectNode().put("name", name);
        vector.set("names", JSON.valueToTree(names));
        vector.set("hashes", JSON.valueToTree(names.stream().map(String::hashCode).toList()));
        vector.set("walk", JSON.valueToTree(walked.keySet().stream().map(places::get).toList()));
        vector.set("sorted", JSON.valueToTree(names.stream().sorted().map(places::get).toList()));
        return vector;
    }

    private static List<String> numbered(String prefix, int size) {
        return IntStream.range(0, size).mapToObj(number -> prefix + number).toList();
    }

    private static List<String> distinct(int size, IntFunction<String> name) {
        return IntStream.range(0, size).mapToObj(name).distinct().toList();
    }

    private static String colliding(int number, int bits) {
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < bits; bit++) {
            text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return text.toString();
    }

    private static List<String> sameBucket(SplittableRandom random, int size) {
        Set<String> names = new LinkedHashSet<>();
        while (names.size() < size) {
            String name = "k" + random.nextInt(1_000_000);
            int hash = name.hashCode();
            if (((hash ^ hash >>> 16) & 127) < 2) {
                names.add(name);
            }
        }
        return List.copyOf(names);
    }

    private static List<String> shuffled(SplittableRandom random, List<String> names) {
        List<String> shuffled = new ArrayList<>(names);
        for (int last = shuffled.size() - 1; last > 0; last--) {
            int place = random.nextInt(last + 1);
            String other = shuffled.get(place);
            shuffled.set(place, shuffled.get(last));
            shuffled.set(last, other);
        }
        return shuffled;
    }
}
