// Writes tests/golden/text_forms.json: numbers and times as Java's own classes show them, as StringSerializer's bytes.
package partwright;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/** Each case is a value, the key bytes of the text that Java has for it in hex, and their murmur2. */
public final class TextVectors {
    private static final int CASES = 100;

    private TextVectors() {}

    /** The one argument is the file to write. */
    public static void main(String[] args) throws IOException {
        String json = "{\n"
                + " \"provenance\": {\"kafka-clients\": \"" + AppInfoParser.getVersion() + "\", \"program\": \""
                + TextVectors.class.getName() + "\"},\n"
                + section("digits", digits()) + ",\n"
                + section("decimal", decimals()) + ",\n"
                + section("iso-date", dates()) + ",\n"
                + section("iso-timestamp", timestamps()) + "\n}\n";
        Files.writeString(Path.of(args[0]), json, StandardCharsets.US_ASCII);
    }

    private static String section(String keyType, List<String> cases) {
        return cases.stream().collect(Collectors.joining(",\n  ", " \"" + keyType + "\": [\n  ", "\n ]"));
    }

    private static String written(String value, String text) {
        byte[] key = new StringSerializer().serialize(HashingVectors.TOPIC, text);
        return "[" + value + ", \"" + HexFormat.of().formatHex(key) + "\", " + Utils.murmur2(key) + "]";
    }

    private static List<String> digits() {
        Set<Long> numbers = new LinkedHashSet<>(List.of(0L, 1L, -1L, 42L, -42L, Long.MIN_VALUE, Long.MAX_VALUE));
        SplittableRandom random = new SplittableRandom(1);
        for (int count = 0; count < CASES; count++) {
            numbers.add(random.nextLong() >> random.nextInt(Long.SIZE));
        }
        return numbers.stream().map(number -> written(number.toString(), Long.toString(number))).toList();
    }

    /** The value is the unscaled number, as text, and the scale. */
    private static List<String> decimals() {
        List<String> cases = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(2);
        for (String unscaled : List.of("0", "1", "-1", "5", "-5", "10", "1990", "-1990", "100000",
                "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999")) {
            for (int scale : List.of(0, 1, 2, 5, 38)) {
                cases.add(decimal(new BigInteger(unscaled), scale));
            }
        }
        for (int count = 0; count < CASES; count++) {
            long unscaled = random.nextLong() >> random.nextInt(Long.SIZE);
            cases.add(decimal(BigInteger.valueOf(unscaled), random.nextInt(-5, 30)));
        }
        return cases;
    }

    private static String decimal(BigInteger unscaled, int scale) {
        return written("[\"" + unscaled + "\", " + scale + "]", new BigDecimal(unscaled, scale).toPlainString());
    }

    /** The value is the days since 1970. */
    private static List<String> dates() {
        Set<Integer> days = new LinkedHashSet<>(List.of(0, 1, -1, 59, 60, 11_015, 11_016, 19_753, 19_782, 19_783,
                // The ends of the years -1, 0, 999, 9999 and their neighbours; both ends of Arrow's days.
                -719_529, -719_528, -719_163, -719_162, -354_286, -354_285, 2_932_896, 2_932_897,
                Integer.MIN_VALUE, Integer.MAX_VALUE));
        SplittableRandom random = new SplittableRandom(3);
        for (int count = 0; count < CASES; count++) {
            days.add(random.nextInt() >> random.nextInt(Integer.SIZE));
        }
        return days.stream().map(day -> written(day.toString(), LocalDate.ofEpochDay(day).toString())).toList();
    }

    /** The value is the seconds since 1970 and the nanoseconds within the second. */
    private static List<String> timestamps() {
        List<String> cases = new ArrayList<>();
        List<Integer> nanos = List.of(0, 1, 1_000, 1_000_000, 10_000_000, 500_000_000, 999_999_999, 123_456_000);
        for (long second : List.of(0L, -1L, 59L, 86_399L, 86_400L, 1_706_702_400L, -62_167_219_201L, 253_402_300_799L,
                253_402_300_800L, Instant.MIN.getEpochSecond(), Instant.MAX.getEpochSecond())) {
            nanos.forEach(nano -> cases.add(timestamp(second, nano)));
        }
        SplittableRandom random = new SplittableRandom(4);
        for (int count = 0; count < CASES; count++) {
            cases.add(timestamp(random.nextLong(-9_000_000_000L, 9_000_000_000L), random.nextInt(1_000_000_000)));
        }
        return cases;
    }

    private static String timestamp(long second, int nano) {
        return written("[" + second + ", " + nano + "]", Instant.ofEpochSecond(second, nano).toString());
    }
}
