// A program that answers questions: an object of JSON a line in, the answer to each a line out.
package partwright;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;

/** The first line out is the provenance; where Kafka throws, most answer with the exception's class, `error`. */
public final class Answers {
    static final JsonMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    private static final int BUFFER = 1 << 16;

    private Answers() {}

    /** What answers one question. */
    @FunctionalInterface
    public interface Answering {
        /** Puts what Kafka says of the question into the answer. */
        void answer(JsonNode question, ObjectNode answer) throws Exception;
    }

    /** What makes the whole answer to one question. */
    @FunctionalInterface
    public interface Asked<Q> {
        /** What it throws ends the program. */
        ObjectNode answer(Q question) throws Exception;
    }

    /** Reads standard input to its end. */
    public static void answer(String library, String version, Asked<JsonNode> asked) throws Exception {
        lines(provenance(library, version), line -> asked.answer(JSON.readTree(line)));
    }

    /** The same of questions as they are written, and of a class whose archive says its name and version itself. */
    static void answerLines(Class<?> of, Asked<String> asked) throws Exception {
        String[] archive = archive(of);
        lines(provenance(archive[0], archive[1]), asked);
    }

    /** The same, of classes of several archives; what Kafka throws is an answer. */
    public static void all(Answering answering, Class<?>... asked) throws Exception {
        ObjectNode provenance = JSON.createObjectNode();
        for (Class<?> one : asked) {
            String[] archive = archive(one);
            provenance.put(archive[0], archive[1]);
        }
        lines(provenance, line -> {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answering.answer(JSON.readTree(line), answer);
            } catch (Exception thrown) {
                answer.removeAll();
                answer.put("error", thrown.getClass().getSimpleName());
            }
            return answer;
        });
    }

    private static ObjectNode provenance(String library, String version) {
        return JSON.createObjectNode().put("library", library).put("version", version);
    }

    private static void lines(ObjectNode provenance, Asked<String> asked) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), BUFFER);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        out.append(JSON.writeValueAsString(provenance)).append('\n');
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.append(JSON.writeValueAsString(asked.answer(line))).append('\n');
        }
        out.flush();
    }

    private static String[] archive(Class<?> of) {
        String[] path = of.getProtectionDomain().getCodeSource().getLocation().getPath().split("/");
        return path[path.length - 1].replace(".jar", "").split("-(?!.*-)");
    }

    /** Puts a list of brokers for each partition. */
    public static void putReplicas(ObjectNode answer, Iterable<? extends Collection<Integer>> partitions) {
        ArrayNode lists = answer.putArray("replicas");
        for (Collection<Integer> replicas : partitions) {
            replicas.forEach(lists.addArray()::add);
        }
    }
}
