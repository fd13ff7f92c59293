// A program that answers questions: an object of JSON a line in, the answer to each a line out.
package partwright;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;

/** The first line out is the provenance; where Kafka throws, the answer is the exception's class, `error`. */
public final class Answers {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    private static final int BUFFER = 1 << 16;

    private Answers() {}

    /** What answers one question. */
    @FunctionalInterface
    public interface Answering {
        /** Puts what Kafka says of the question into the answer. */
        void answer(JsonNode question, ObjectNode answer) throws Exception;
    }

    /** Reads standard input to its end; the classes are of the archives that are asked, which say their own versions. */
    public static void all(Answering answering, Class<?>... asked) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), BUFFER);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        ObjectNode provenance = JSON.createObjectNode();
        for (Class<?> one : asked) {
            String[] archive = one.getProtectionDomain().getCodeSource().getLocation().getPath().split("/");
            String name = archive[archive.length - 1].replace(".jar", "");
            provenance.put(name.substring(0, name.lastIndexOf('-')), name.substring(name.lastIndexOf('-') + 1));
        }
        out.append(JSON.writeValueAsString(provenance)).append('\n');
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answering.answer(JSON.readTree(line), answer);
            } catch (Exception thrown) {
                answer.removeAll();
                answer.put("error", thrown.getClass().getSimpleName());
            }
            out.append(JSON.writeValueAsString(answer)).append('\n');
        }
        out.flush();
    }

    /** Puts a list of brokers for each partition. */
    public static void putReplicas(ObjectNode answer, Iterable<? extends Collection<Integer>> partitions) {
        ArrayNode lists = answer.putArray("replicas");
        for (Collection<Integer> replicas : partitions) {
            replicas.forEach(lists.addArray()::add);
        }
    }
}
