// Shared by all programs over producers' strategies: questions in JSON in, partitions in JSON out, and the draws between.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The first line out is the provenance. Each line in is a question: `events` in the format of `partwright strategy`, or
 * `records`, lists of topic, partition, key, value size and time; and the `thread_seed` from which the strategy's numbers
 * are drawn. Its answer has the `draws`, those that were used, and the `results` or where the records were `placed`: a
 * partition, null, or `{"error": "the exception's class"}`.
 */
public final class Strategies {
    private Strategies() {}

    /** A strategy at work on one question. */
    public interface Asked {
        /** What it answers to an event; null where there is nothing to answer. */
        Integer happens(JsonNode event) throws ReflectiveOperationException;

        /** The partition to which a record is appended. */
        default int place(JsonNode sent) throws ReflectiveOperationException, InterruptedException {
            throw new UnsupportedOperationException("this program places no records");
        }

        /** Checks at the end that the records are where the answers say. */
        default void check() throws ReflectiveOperationException {}
    }

    /** Makes what answers a question. */
    @FunctionalInterface
    public interface Maker {
        /** Everything is made anew. */
        Asked make(JsonNode question) throws ReflectiveOperationException;
    }

    /** Where a strategy's random numbers come from. */
    public interface Source {
        /** Lets it begin anew. */
        void begin(long seed) throws ReflectiveOperationException;

        /** Tells how far it has come. */
        long state() throws ReflectiveOperationException;

        /** Draws a number. */
        int next();
    }

    /** One record. */
    public record Sent(String topic, Integer partition, byte[] key, byte[] value, long time) {
        /** Reads it. */
        public static Sent of(JsonNode sent) {
            return new Sent(
                    sent.get(0).asText(),
                    sent.get(1).isNull() ? null : sent.get(1).asInt(),
                    bytes(sent.get(2)),
                    sent.get(3).isNull() ? null : new byte[sent.get(3).asInt()],
                    sent.get(4).asLong());
        }
    }

    /** What may draw numbers. */
    @FunctionalInterface
    public interface Drawing {
        /** Does it, once. */
        void run() throws ReflectiveOperationException, InterruptedException;
    }

    /** Reads standard input to its end. */
    public static void answer(String library, String version, Source source, Maker maker) throws Exception {
        Answers.answer(library, version, question -> answer(source, maker.make(question), question));
    }

    private static ObjectNode answer(Source source, Asked asked, JsonNode question)
            throws ReflectiveOperationException, InterruptedException {
        boolean places = question.has("records");
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        draw(source, question, answer, () -> {
            ArrayNode answers = answer.putArray(places ? "placed" : "results");
            for (JsonNode each : question.get(places ? "records" : "events")) {
                try {
                    answers.add(places ? Integer.valueOf(asked.place(each)) : asked.happens(each));
                } catch (InvocationTargetException thrown) {
                    answers.addObject().put("error", thrown.getCause().getClass().getSimpleName());
                } catch (RuntimeException thrown) {
                    answers.addObject().put("error", thrown.getClass().getSimpleName());
                }
            }
        });
        asked.check();
        return answer;
    }

    /** Lets something draw from the question's `thread_seed`; the numbers that it drew are the answer's `draws`. */
    public static void draw(Source source, JsonNode question, ObjectNode answer, Drawing drawing)
            throws ReflectiveOperationException, InterruptedException {
        long seed = question.get("thread_seed").asLong();
        ArrayNode draws = answer.putArray("draws");
        source.begin(seed);
        drawing.run();
        long end = source.state();
        source.begin(seed);
        while (source.state() != end) {
            draws.add(source.next());
        }
    }

    /** The key of an event; null where it has none. */
    public static byte[] key(JsonNode event) {
        return bytes(event.path("key"));
    }

    /** Bytes that are written in hex; null where there are none. */
    public static byte[] bytes(JsonNode hex) {
        return hex.isTextual() ? HexFormat.of().parseHex(hex.asText()) : null;
    }

    /** A list of numbers; null where it is missing or null. */
    public static int[] numbers(JsonNode list) {
        if (!list.isArray()) {
            return null;
        }
        int[] numbers = new int[list.size()];
        for (int place = 0; place < numbers.length; place++) {
            numbers[place] = list.get(place).asInt();
        }
        return numbers;
    }

    /** A list of texts and nulls; null where it is missing or null. */
    public static String[] texts(JsonNode list) {
        if (!list.isArray()) {
            return null;
        }
        List<String> texts = new ArrayList<>();
        list.forEach(text -> texts.add(text.isNull() ? null : text.asText()));
        return texts.toArray(new String[0]);
    }

    /** What Kafka keeps to itself, opened. */
    public static <T extends AccessibleObject> T open(T own) {
        own.setAccessible(true);
        return own;
    }

    /** Checks that a record accumulator has so many records in the batches of each partition. */
    public static void check(Object accumulator, Map<?, Integer> placed) throws ReflectiveOperationException {
        for (Map.Entry<?, Integer> partition : placed.entrySet()) {
            Method of = open(accumulator.getClass().getDeclaredMethod("getDeque", partition.getKey().getClass()));
            int records = 0;
            for (Object batch : (Deque<?>) of.invoke(accumulator, partition.getKey())) {
                records += open(batch.getClass().getDeclaredField("recordCount")).getInt(batch);
            }
            if (records != partition.getValue()) {
                throw new IllegalStateException(partition + " records were placed, and " + records + " are there");
            }
        }
    }

    /** The numbers of `ThreadLocalRandom`, whose seed is a field of the thread. */
    public static final class ThreadDraws implements Source {
        private final Field seed;

        /** Opens the field, which a thread fills once. */
        public ThreadDraws() throws ReflectiveOperationException {
            ThreadLocalRandom.current();
            seed = open(Thread.class.getDeclaredField("threadLocalRandomSeed"));
        }

        @Override
        public void begin(long from) throws ReflectiveOperationException {
            seed.setLong(Thread.currentThread(), from);
        }

        @Override
        public long state() throws ReflectiveOperationException {
            return seed.getLong(Thread.currentThread());
        }

        @Override
        public int next() {
            return ThreadLocalRandom.current().nextInt();
        }
    }
}
