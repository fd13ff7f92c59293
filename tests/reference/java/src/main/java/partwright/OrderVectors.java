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
import org.apache.kafka.common.Uuid;

/**
 * One case a line: names in the order in which they are put into a `new HashMap<>()`, their hash codes, and, as
 * places in the list of names, the order in which the map is walked and the order in which the names are sorted. The
 * same of topics' ids (`ids`).
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
            lines.add("  " + JSON.writeValueAsString(vector(names.getKey(), "names", names.getValue())));
        }
        for (Map.Entry<String, List<Uuid>> ids : ids().entrySet()) {
            lines.add("  " + JSON.writeValueAsString(vector(ids.getKey(), "ids", ids.getValue())));
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

    private static <T extends Comparable<T>> ObjectNode vector(String name, String kind, List<T> keys) {
        Map<T, Integer> places = new HashMap<>();
        Map<T, Boolean> walked = new HashMap<>();
        for (T key : keys) {
            places.put(key, places.size());
            walked.put(key, true);
        }
        ObjectNode vector = JSON.createObjectNode().put("name", name);
        vector.set(kind, JSON.valueToTree(keys.stream().map(T::toString).toList()));
        vector.set("hashes", JSON.valueToTree(keys.stream().map(T::hashCode).toList()));
        vector.set("walk", JSON.valueToTree(walked.keySet().stream().map(places::get).toList()));
        vector.set("sorted", JSON.valueToTree(keys.stream().sorted().map(places::get).toList()));
        return vector;
    }

    /** Topics' ids: at random, of one hash code, of one bin, and those that are made of the names in `cases`. */
    private static Map<String, List<Uuid>> ids() {
        SplittableRandom random = new SplittableRandom(7);
        Map<String, List<Uuid>> cases = new LinkedHashMap<>();
        for (int size : SIZES) {
            cases.put("ids/" + size, distinct(size, number -> new Uuid(random.nextLong(), random.nextLong())));
        }
        cases.put("ids/bounds", List.of(
                Uuid.ONE_UUID, new Uuid(-1, -1), new Uuid(Long.MIN_VALUE, 0), Uuid.ZERO_UUID, new Uuid(0, Long.MIN_VALUE),
                new Uuid(Long.MAX_VALUE, -1), new Uuid(1, 1), new Uuid(0, -1), new Uuid(-1, 0)));
        for (int size : new int[] {8, 9, 10, 12, 40, 120}) {
            cases.put("ids/colliding/" + size, distinct(size, number -> id(random, 0x1234_5678)));
            cases.put("ids/same-bin/" + size, distinct(size, number -> id(random, 5 + (random.nextInt() << 23))));
        }
        for (int size : new int[] {4, 49}) {
            cases.put("ids/made/" + size, cases().get("letters/" + size).stream().map(OrderVectors::made).toList());
        }
        return cases;
    }

    private static Uuid id(SplittableRandom random, int hash) {
        long most = random.nextLong();
        long low = random.nextInt() & 0xffff_ffffL;
        return new Uuid(most, most ^ (low << 32 | (low ^ hash & 0xffff_ffffL)));
    }

    private static Uuid made(String name) {
        UUID made = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        return new Uuid(made.getMostSignificantBits(), made.getLeastSignificantBits());
    }

    private static List<String> numbered(String prefix, int size) {
        return IntStream.range(0, size).mapToObj(number -> prefix + number).toList();
    }

    private static <T> List<T> distinct(int size, IntFunction<T> name) {
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
