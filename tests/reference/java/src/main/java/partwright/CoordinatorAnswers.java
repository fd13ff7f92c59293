// Answers scripts of requests with a real group coordinator: a script of JSON a line in, what came of it a line out.
package partwright;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;

/** The first line out is the provenance. A script's member ids hang on its own text alone. */
public final class CoordinatorAnswers {
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    private static final int BUFFER = 1 << 16;

    private CoordinatorAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        DrawnIds.install();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), BUFFER);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        // The archive says itself which version it is.
        String[] archive =
                GroupCoordinatorService.class.getProtectionDomain().getCodeSource().getLocation().getPath().split("/");
        String name = archive[archive.length - 1].replace(".jar", "");
        ObjectNode provenance = JSON.createObjectNode();
        provenance.put("library", name.substring(0, name.lastIndexOf('-')));
        provenance.put("version", name.substring(name.lastIndexOf('-') + 1));
        out.append(JSON.writeValueAsString(provenance)).append('\n');
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            DrawnIds.seed(line.hashCode());
            JsonNode question = JSON.readTree(line);
            GroupScript script = switch (question.get("kind").asText()) {
                case "classic" -> new ClassicScript(question);
                case "consumer" -> new ConsumerScript(question);
                default -> throw new IllegalArgumentException("unknown kind: " + question.get("kind"));
            };
            out.append(JSON.writeValueAsString(script.answer())).append('\n');
        }
        out.flush();
    }
}
