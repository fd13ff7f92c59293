// Writes tests/golden/hashing.json: the answers of Kafka's own Java client for keys.
package partwright;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.BooleanSerializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.DoubleSerializer;
import org.apache.kafka.common.serialization.FloatSerializer;
import org.apache.kafka.common.serialization.IntegerSerializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.ShortSerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.serialization.UUIDSerializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/**
 * Every hash, partition and key byte in the file comes from kafka-clients; this class chooses the keys
 * and writes down the answers, one case per line, the same bytes on every run.
 */
public final class HashingVectors {
    static final String TOPIC = "t";
    private static final int[] PARTITIONS = {1, 3, 6, 7, 10, 12, 16, 50, 1000, Integer.MAX_VALUE};
    private static final int LONGEST_PREFIX = 1000;
    private static final HexFormat HEX = HexFormat.of();

    private HashingVectors() {}

    /** The one argument is the file to write. */
    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        Map<String, String> sections = new LinkedHashMap<>();
        sections.put("provenance", provenance());
        sections.put("partitions", ints(PARTITIONS));
        sections.put("keys", lines(keys()));
        sections.put("reports", lines(reports()));
        sections.put("prefixes", lines(prefixes()));
        sections.put("serializers", serializers());
        sections.put("producer", producer());
        sections.put("checksum", checksum());
        String json = lines("{", "}", sections.entrySet().stream()
                .map(section -> quoted(section.getKey()) + ": " + section.getValue())
                .toList());
        Files.writeString(Path.of(args[0]), json + "\n", StandardCharsets.US_ASCII);
    }

    private static String provenance() {
        List<Class<?>> called = List.of(
                Utils.class,
                BuiltInPartitioner.class,
                KafkaProducer.class,
                RecordMetadata.class,
                ShortSerializer.class,
                IntegerSerializer.class,
                LongSerializer.class,
                FloatSerializer.class,
                DoubleSerializer.class,
                BooleanSerializer.class,
                UUIDSerializer.class,
                StringSerializer.class);
        return lines("{", "}", List.of(
                "\"kafka-clients\": " + quoted(AppInfoParser.getVersion()),
                "\"commit\": " + quoted(AppInfoParser.getCommitId()),
                "\"program\": " + quoted(HashingVectors.class.getName()),
                "\"classes\": " + lines(called.stream().map(type -> quoted(type.getName())).toList())));
    }

    // ---- keys -------------------------------------------------------------------------------------------------

    private static List<String> keys() {
        Keys keys = new Keys();
        // Kafka's own six: UtilsTest.testMurmur2.
        keys.texts("kafka", "21", "foobar", "a-little-bit-long-string", "a-little-bit-longer-string",
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", "abc");
        // The keys of other clients' tests (librdkafka, sarama, kafka-go, kafka-python, kafkajs, ruby-kafka, kafka_ex).
        keys.texts("clients", "kafka", "giberish123456789", "1234", "234", "34", "4",
                "PreAmbleWillBeRemoved,ThePrePartThatIs", "reAmbleWillBeRemoved,ThePrePartThatIs",
                "eAmbleWillBeRemoved,ThePrePartThatIs", "AmbleWillBeRemoved,ThePrePartThatIs",
                "a", "ab", "123456789", "foo", "bar", "baz", "sarama", "blah", "boop", "castle", "yolo", "hey",
                "23456", "this is another string with more length to it perhaps", "hejsan",
                "abc123def456", "SheetJS", "9e8c7f4cf45857cfff7645d6", "3900446192ff85a5f67da10c",
                "0f4407b7a67d6d27de372198", "1468509572224", "30142322.022108_2000", "joeirimpan",
                "rule", "monkey", "hover", "guest", "necklace", "storm", "paint", "agony", "strategic", "redundancy",
                "0", "1", "128", "2187", "16384", "78125", "279936", "823543", "2097152", "4782969", "10000000",
                "19487171", "35831808", "62748517", "105413504", "170859375");
        keys.bytes("clients", "0020", "fffefd");
        for (Report report : REPORTS) {
            keys.text("reports/" + report.name(), report.key());
        }
        // Where a wrong sign or a missing tail would show.
        keys.bytes("edge", "", "80", "ff", "ffff", "ffffff", "ffffffff", "00", "0000002a", "000000000000002a",
                "0080", "8000", "808080", "7f", "7f7f7f7f", "ffffff7f", "7fffffff", "80000000", "00000080");
        keys.text("edge/empty-text", "");
        keys.text("edge/key", "key");
        for (int value = 0; value < 256; value++) {
            keys.bytes("byte", HEX.toHexDigits((byte) value));
        }
        for (int length = 2; length <= 17; length++) {
            for (String filler : List.of("00", "7f", "80", "ff", "80ff", "ff00")) {
                keys.bytes("fill", filler.repeat(length).substring(0, 2 * length));
            }
        }
        UNICODE.forEach((name, text) -> keys.text("unicode/" + name, text));
        for (int number = 0; number < 1000; number++) {
            keys.text("digits/" + number, Integer.toString(number));
        }
        SplittableRandom random = new SplittableRandom(0x75756964L);
        for (int index = 0; index < 50; index++) {
            String text = new UUID(random.nextLong(), random.nextLong()).toString();
            keys.text("uuid/" + text, text);
        }
        return keys.cases;
    }

    /** The cases of the section, each key under a name that occurs once. */
    private static final class Keys {
        private final List<String> cases = new ArrayList<>();
        private final Set<String> names = new HashSet<>();

        void texts(String group, String... texts) {
            for (String text : texts) {
                text(group + "/" + text, text);
            }
        }

        void text(String name, String text) {
            try (StringSerializer serializer = new StringSerializer()) {
                add(name, ", \"text\": " + quoted(text), serializer.serialize(TOPIC, text));
            }
        }

        void bytes(String group, String... hexes) {
            for (String hex : hexes) {
                add(group + "/0x" + hex, "", HEX.parseHex(hex));
            }
        }

        private void add(String name, String text, byte[] key) {
            if (!names.add(name)) {
                throw new IllegalArgumentException("two keys are named " + name);
            }
            cases.add("{\"name\": " + quoted(name) + text + ", \"key\": " + hex(key) + ", " + placed(key) + "}");
        }
    }

    /** Escapes keep the source, as the file, in ASCII: what looks alike in an editor is not the same key. */
    private static final Map<String, String> UNICODE = new LinkedHashMap<>();

    static {
        UNICODE.put("latin-precomposed", "caf\u00e9");
        UNICODE.put("latin-combining", "cafe\u0301");
        UNICODE.put("latin-combining-stack", "Z\u0351\u036b\u0343a\u0328\u0322l\u0334g\u0321o\u0322");
        UNICODE.put("angstrom-sign", "\u212b");
        UNICODE.put("angstrom-letter", "\u00c5");
        UNICODE.put("german", "stra\u00dfe");
        UNICODE.put("turkish-dotless", "\u0131I\u0130i");
        UNICODE.put("greek", "\u03ba\u03cc\u03c3\u03bc\u03b5");
        UNICODE.put("cyrillic", "\u043a\u043b\u044e\u0447");
        UNICODE.put("mixed", "na\u00efve-\u043a\u043b\u044e\u0447-\ud83d\udd11");
        UNICODE.put("hebrew", "\u05e9\u05dc\u05d5\u05dd");
        UNICODE.put("arabic", "\u0645\u0641\u062a\u0627\u062d");
        UNICODE.put("right-to-left-mark", "abc\u200f123\u200e");
        UNICODE.put("bidi-override", "\u202eabc\u202c");
        UNICODE.put("devanagari", "\u0915\u0941\u0902\u091c\u0940");
        UNICODE.put("thai", "\u0e01\u0e38\u0e0d\u0e41\u0e08");
        UNICODE.put("han", "\u9375\u6f22\u5b57");
        UNICODE.put("kana", "\u30ad\u30fc\u304b\u304e");
        UNICODE.put("hangul-syllables", "\uc5f4\uc1e0");
        UNICODE.put("hangul-jamo", "\u110b\u1167\u11af\u1109\u116c");
        UNICODE.put("fullwidth", "\uff46\uff4f\uff4f\uff5e");
        UNICODE.put("ideographic-space", "a\u3000b");
        UNICODE.put("no-break-space", "a\u00a0b");
        UNICODE.put("emoji", "\ud83d\ude00");
        UNICODE.put("emoji-family", "\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67");
        UNICODE.put("emoji-skin-tone", "\ud83d\udc4d\ud83c\udffd");
        UNICODE.put("emoji-flag", "\ud83c\uddf3\ud83c\uddf1");
        UNICODE.put("mathematical-bold", "\ud835\udc00\ud835\udc01");
        UNICODE.put("first-supplementary", "\ud800\udc00");
        UNICODE.put("last-code-point", "\udbff\udfff");
        UNICODE.put("last-of-2-bytes", "\u07ff");
        UNICODE.put("first-of-2-bytes", "\u0080");
        UNICODE.put("first-of-3-bytes", "\u0800");
        UNICODE.put("before-surrogates", "\ud7ff");
        UNICODE.put("after-surrogates", "\ue000");
        UNICODE.put("replacement-character", "\ufffd");
        UNICODE.put("non-character", "\uffff");
        UNICODE.put("byte-order-mark", "\ufeffkey");
        UNICODE.put("nul-inside", "a\0b");
        UNICODE.put("nul-alone", "\0");
        UNICODE.put("control", "\t\r\n\u001b\u007f");
        UNICODE.put("quotes", "\"key\\'");
        UNICODE.put("spaces-around", " key ");
        UNICODE.put("long", "\u00fc\u6f22\ud83d\udd11".repeat(37));
    }

    // ---- the keys that users asked about ----------------------------------------------------------------------

    /** A key quoted in a public bug report, with the number of partitions that was asked about there. */
    private record Report(String name, String key, int n) {}

    private static final List<Report> REPORTS = List.of(
            new Report("tulios/kafkajs#1154", "TT0124", 15),
            new Report("confluentinc/confluent-kafka-python#1481",
                    "Struct{documentKey={\"_id\": \"638d1b94ce8def06be68b439\"}}", 50),
            new Report("Blizzard/node-rdkafka#616-a", "354afe16-939a-4ea8-8e17-8bb0840b6886", 10),
            new Report("Blizzard/node-rdkafka#616-b", "f562ac3b-2224-4e25-a0ab-56094e10c239", 10),
            new Report("Blizzard/node-rdkafka#817", "fd7af248-ce5c-46a5-93d7-1c0c9005b99d", 32),
            new Report("tulios/kafkajs#357", "100:48069", 12),
            new Report("nodefluent/node-sinek#39", "wu", 10),
            new Report("twmb/franz-go#669", "test", 840),
            new Report("confluentinc/kafka-rest#610-quoted", "\"A\"", 3),
            new Report("confluentinc/kafka-rest#610-bare", "A", 3));

    private static List<String> reports() {
        List<String> cases = new ArrayList<>();
        try (StringSerializer serializer = new StringSerializer()) {
            for (Report report : REPORTS) {
                byte[] key = serializer.serialize(TOPIC, report.key());
                cases.add("{\"name\": " + quoted(report.name()) + ", \"text\": " + quoted(report.key()) + ", \"n\": "
                        + report.n() + ", \"partition\": " + BuiltInPartitioner.partitionForKey(key, report.n()) + "}");
            }
        }
        return cases;
    }

    // ---- every length -----------------------------------------------------------------------------------------

    private static List<String> prefixes() {
        List<String> blocks = new ArrayList<>();
        for (int seed = 1; seed <= 3; seed++) {
            blocks.add(prefixes("random-" + seed, randomBlock(seed)));
        }
        // Java's bytes are signed: with the high bit set in each, a tail that is not masked shows at once.
        byte[] high = randomBlock(4);
        for (int index = 0; index < high.length; index++) {
            high[index] |= (byte) 0x80;
        }
        blocks.add(prefixes("high-bits", high));
        return blocks;
    }

    private static byte[] randomBlock(long seed) {
        byte[] block = new byte[LONGEST_PREFIX];
        new SplittableRandom(seed).nextBytes(block);
        return block;
    }

    private static String prefixes(String name, byte[] block) {
        List<String> rows = new ArrayList<>();
        for (int length = 0; length <= LONGEST_PREFIX; length++) {
            byte[] key = Arrays.copyOf(block, length);
            rows.add("[" + length + ", " + Utils.murmur2(key) + ", " + partitions(key) + "]");
        }
        return lines("{", "}", List.of(
                "\"name\": " + quoted(name),
                "\"block\": " + hex(block),
                "\"rows\": " + lines(rows)));
    }

    // ---- serializers ------------------------------------------------------------------------------------------

    private static String serializers() {
        return lines("{", "}", List.of(
                shorts(), integers(), longs(), floats(), doubles(), booleans(), uuids(), strings()));
    }

    /** One key type: for each value how it is written down, the bytes of what Java makes of it, and where they go. */
    private static <V, T> String serializer(
            String keyType,
            Serializer<T> serializer,
            List<V> values,
            Function<V, T> parsed,
            Function<V, String> written) {
        List<String> cases = new ArrayList<>();
        for (V value : values) {
            byte[] key = serializer.serialize(TOPIC, parsed.apply(value));
            cases.add("{" + written.apply(value) + ", \"bytes\": " + hex(key) + ", " + placed(key) + "}");
        }
        return quoted(keyType) + ": " + lines("{", "}", List.of(
                "\"class\": " + quoted(serializer.getClass().getName()),
                "\"null\": " + hex(serializer.serialize(TOPIC, null)),
                "\"cases\": " + lines(cases)));
    }

    private static String shorts() {
        return serializer("java:short", new ShortSerializer(), wholeNumbers(Short.SIZE), Long::shortValue,
                value -> "\"value\": " + value);
    }

    private static String integers() {
        return serializer("java:int", new IntegerSerializer(), wholeNumbers(Integer.SIZE), Long::intValue,
                value -> "\"value\": " + value);
    }

    private static String longs() {
        return serializer("java:long", new LongSerializer(), wholeNumbers(Long.SIZE), value -> value,
                value -> "\"value\": " + value);
    }

    /** Zero, small ones, both ends, each power of two and its neighbours, and some at random. */
    private static List<Long> wholeNumbers(int bits) {
        Set<Long> numbers = new LinkedHashSet<>(List.of(0L, 1L, -1L, 42L, -42L, 100L, -100L, 12345L, -12345L));
        long least = -1L << (bits - 1);
        numbers.addAll(List.of(least, least + 1, -(least + 1) - 1, -(least + 1)));
        for (int bit = 1; bit < bits - 1; bit++) {
            long power = 1L << bit;
            numbers.addAll(List.of(power - 1, power, power + 1, -power - 1, -power, -power + 1));
        }
        SplittableRandom random = new SplittableRandom(bits);
        for (int count = 0; count < 50; count++) {
            numbers.add(random.nextLong() >> (Long.SIZE - bits));
        }
        return List.copyOf(numbers);
    }

    private static String floats() {
        List<Integer> bits = new ArrayList<>(List.of(
                // Zeros, ones, 42, a tenth, pi; the smallest and largest of each kind; infinities.
                0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x42280000, 0xc2280000, 0x3dcccccd, 0x40490fdb,
                0x00000001, 0x80000001, 0x00000002, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
                0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                // NaN, quiet and signalling, of both signs: FloatSerializer writes the raw bits.
                0x7fc00000, 0xffc00000, 0x7fc00001, 0x7fffffff, 0xffffffff, 0x7fdeadbe,
                0x7f800001, 0xff800001, 0x7fa00000, 0x7fbfffff, 0xffbfffff));
        SplittableRandom random = new SplittableRandom(Float.SIZE);
        random.ints(50).forEach(bits::add);
        // Float.toString differs from one JDK to the next, toHexString does not.
        return serializer("java:float", new FloatSerializer(), bits, Float::intBitsToFloat,
                value -> "\"value\": " + quoted(Float.toHexString(Float.intBitsToFloat(value)))
                        + ", \"bits\": " + quoted(HEX.toHexDigits(value)));
    }

    private static String doubles() {
        List<Long> bits = new ArrayList<>(List.of(
                0x0000000000000000L, 0x8000000000000000L, 0x3ff0000000000000L, 0xbff0000000000000L,
                0x4045000000000000L, 0xc045000000000000L, 0x3fb999999999999aL, 0x400921fb54442d18L,
                0x0000000000000001L, 0x8000000000000001L, 0x0000000000000002L, 0x000fffffffffffffL,
                0x800fffffffffffffL, 0x0010000000000000L, 0x8010000000000000L,
                0x7fefffffffffffffL, 0xffefffffffffffffL, 0x7ff0000000000000L, 0xfff0000000000000L,
                // NaN, quiet and signalling, of both signs: DoubleSerializer writes one and the same for all.
                0x7ff8000000000000L, 0xfff8000000000000L, 0x7ff8000000000001L, 0x7fffffffffffffffL,
                0xffffffffffffffffL, 0x7ffdeadbeefcafe0L, 0x7ff0000000000001L, 0xfff0000000000001L,
                0x7ff4000000000000L, 0x7ff7ffffffffffffL, 0xfff7ffffffffffffL));
        SplittableRandom random = new SplittableRandom(Double.SIZE);
        random.longs(50).forEach(bits::add);
        return serializer("java:double", new DoubleSerializer(), bits, Double::longBitsToDouble,
                value -> "\"value\": " + quoted(Double.toHexString(Double.longBitsToDouble(value)))
                        + ", \"bits\": " + quoted(HEX.toHexDigits(value)));
    }

    private static String booleans() {
        return serializer("java:boolean", new BooleanSerializer(), List.of(false, true), value -> value,
                value -> "\"value\": " + value);
    }

    private static String uuids() {
        List<String> texts = new ArrayList<>(List.of(
                "00000000-0000-0000-0000-000000000000",
                "ffffffff-ffff-ffff-ffff-ffffffffffff",
                "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
                "00000000-0000-0000-0000-000000000001",
                "80000000-0000-0000-8000-000000000000",
                "123e4567-e89b-12d3-a456-426614174000",
                "123E4567-E89B-12D3-A456-426614174000",
                "123e4567-E89B-12d3-A456-426614174aBc",
                "0188c0f2-7a93-7000-8000-00000000abcd",
                "0188C0F2-7A93-7000-8000-00000000ABCD",
                "354afe16-939a-4ea8-8e17-8bb0840b6886"));
        SplittableRandom random = new SplittableRandom(128);
        for (int count = 0; count < 30; count++) {
            String text = new UUID(random.nextLong(), random.nextLong()).toString();
            texts.add(count % 3 == 0 ? text.toUpperCase(Locale.ROOT) : text);
        }
        // The text is written as it was typed; java.util.UUID forgets its case before the serializer sees it.
        return serializer("java:uuid", new UUIDSerializer(), texts, UUID::fromString,
                text -> "\"value\": " + quoted(text) + ", \"raw\": " + hex(raw(UUID.fromString(text))));
    }

    private static byte[] raw(UUID uuid) {
        return ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
    }

    private static String strings() {
        List<String> texts = new ArrayList<>(List.of("", "42", "-1", "key", "N14228", " ", "\0"));
        texts.addAll(UNICODE.values());
        // Half a surrogate pair is a Java string all the same; getBytes writes '?' for it.
        texts.addAll(List.of("\ud83d", "\ude00", "a\ud83d", "\ude00b", "a\ud83db", "a\ude00b", "\ude00\ud83d",
                "\ud83d\ud83d\ude00", "\ud83d\ude00\ude00", "\ud800\ud800", "\udfff\udbff", "\ud83d\u00e9"));
        return serializer("java:string", new StringSerializer(), texts, text -> text, text -> "\"value\": "
                + (text.equals(wellFormed(text)) ? quoted(text) : "null")
                + ", \"utf16\": " + quoted(text.chars().mapToObj(unit -> HEX.toHexDigits((char) unit))
                        .collect(Collectors.joining())));
    }

    /** JSON cannot carry half a pair everywhere (serde_json refuses it): those texts go by their code units alone. */
    private static String wellFormed(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    // ---- the producer itself ----------------------------------------------------------------------------------

    /**
     * KafkaProducer.partition, the private method that every send goes through: it says when a key is not hashed.
     *
     * <p>The producer is a real one that is never asked to send; its broker's port answers nobody.
     */
    private static String producer() throws ReflectiveOperationException {
        List<String> cases = new ArrayList<>();
        Method partition = KafkaProducer.class.getDeclaredMethod(
                "partition", ProducerRecord.class, byte[].class, byte[].class, Cluster.class);
        partition.setAccessible(true);
        for (boolean ignoreKeys : List.of(false, true)) {
            Map<String, Object> configs = Map.of(
                    "bootstrap.servers", "127.0.0.1:1",
                    "enable.metrics.push", false,
                    "partitioner.ignore.keys", ignoreKeys);
            KafkaProducer<byte[], byte[]> producer =
                    new KafkaProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
            try {
                for (int n : new int[] {1, 12}) {
                    Cluster cluster = cluster(n);
                    for (byte[] key : new byte[][] {null, {}, {0}, "key".getBytes(StandardCharsets.UTF_8)}) {
                        Object chosen = partition.invoke(
                                producer, new ProducerRecord<>(TOPIC, key, new byte[0]), key, new byte[0], cluster);
                        cases.add("{\"ignore_keys\": " + ignoreKeys + ", \"n\": " + n + ", \"key\": " + hex(key)
                                + ", \"partition\": " + chosen + "}");
                    }
                }
            } finally {
                producer.close(Duration.ZERO);
            }
        }
        return lines("{", "}", List.of(
                "\"unknown_partition\": " + RecordMetadata.UNKNOWN_PARTITION,
                "\"cases\": " + lines(cases)));
    }

    /** A cluster of one broker, which leads all partitions of the topic. */
    static Cluster cluster(int n) {
        Node node = new Node(0, "127.0.0.1", 1);
        Node[] replicas = {node};
        List<PartitionInfo> partitions = IntStream.range(0, n)
                .mapToObj(id -> new PartitionInfo(TOPIC, id, node, replicas, replicas))
                .toList();
        return new Cluster("golden", List.of(node), partitions, Set.of(), Set.of());
    }

    // ---- Kafka's own checksum ---------------------------------------------------------------------------------

    /** UtilsTest.testMurmur2Checksum: 100,100 keys of all lengths to 1000, their unsigned hashes summed. */
    private static String checksum() {
        int keysPerLength = 100;
        SplittableRandom random = new SplittableRandom(0);
        long sum = 0;
        long hashes = 0;
        for (int length = 0; length <= LONGEST_PREFIX; length++) {
            byte[] key = new byte[length];
            for (int count = 0; count < keysPerLength; count++) {
                random.nextBytes(key);
                sum += Integer.toUnsignedLong(Utils.murmur2(key));
                hashes++;
            }
        }
        return "{\"seed\": 0, \"longest\": " + LONGEST_PREFIX + ", \"keys_per_length\": " + keysPerLength
                + ", \"hashes\": " + hashes + ", \"sum\": " + quoted(Long.toHexString(sum)) + "}";
    }

    // ---- what Kafka says of some key bytes --------------------------------------------------------------------

    private static String placed(byte[] key) {
        return "\"murmur2\": " + Utils.murmur2(key) + ", \"partitions\": " + partitions(key);
    }

    private static String partitions(byte[] key) {
        return ints(IntStream.of(PARTITIONS).map(n -> BuiltInPartitioner.partitionForKey(key, n)).toArray());
    }

    // ---- JSON -------------------------------------------------------------------------------------------------

    private static String lines(List<String> items) {
        return lines("[", "]", items);
    }

    private static String lines(String open, String close, List<String> items) {
        return items.stream()
                .map(item -> " " + item.replace("\n", "\n "))
                .collect(Collectors.joining(",\n", open + "\n", "\n" + close));
    }

    private static String ints(int[] values) {
        return IntStream.of(values).mapToObj(Integer::toString).collect(Collectors.joining(", ", "[", "]"));
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "null" : quoted(HEX.formatHex(bytes));
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char unit : text.toCharArray()) {
            if (unit == '"' || unit == '\\') {
                json.append('\\').append(unit);
            } else if (unit < ' ' || unit > '~') {
                json.append("\\u").append(HEX.toHexDigits(unit));
            } else {
                json.append(unit);
            }
        }
        return json.append('"').toString();
    }
}
