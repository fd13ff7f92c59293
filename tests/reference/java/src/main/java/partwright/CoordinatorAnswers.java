// Answers scripts of requests with a real group coordinator: a line with a script in JSON in, a line with the result out.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;

/** The first line out is the provenance. A script's member ids hang on its own text alone. */
public final class CoordinatorAnswers {
    private CoordinatorAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        DrawnIds.install();
        Answers.answerLines(GroupCoordinatorService.class, line -> {
            DrawnIds.seed(line.hashCode());
            JsonNode question = Answers.JSON.readTree(line);
            GroupScript script = switch (question.get("kind").asText()) {
                case "classic" -> new ClassicScript(question);
                case "consumer" -> new ConsumerScript(question);
                default -> throw new IllegalArgumentException("unknown kind: " + question.get("kind"));
            };
            return script.answer();
        });
    }
}
