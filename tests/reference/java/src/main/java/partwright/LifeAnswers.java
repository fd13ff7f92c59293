// Answers scripts of `partwright group` with whole real consumers: a script of JSON a line in, who read what from when on a line out.
package partwright;

import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The first line out is the provenance. What happens depends on the script's line alone. */
public final class LifeAnswers {
    private LifeAnswers() {}

    /** Reads standard input to its end; a folder's jars, where one is given, are those of another client. */
    public static void main(String[] args) throws Exception {
        DrawnIds.install();
        try (LifeLoader loader = new LifeLoader(args)) {
            Class<?> client = loader.loadClass(KafkaConsumer.class.getName());
            Answers.answerLines(client, line -> {
                DrawnIds.seed(line.hashCode());
                return new LifePlay(Answers.JSON.readTree(line), loader).answer();
            });
        }
    }
}
