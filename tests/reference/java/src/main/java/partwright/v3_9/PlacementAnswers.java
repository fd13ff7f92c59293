// Answers questions about replicas with Kafka's placer of the days of ZooKeeper, and with kafka-topics' own parser.
package partwright.v3_9;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.admin.AdminUtils;
import org.apache.kafka.admin.BrokerMetadata;
import org.apache.kafka.tools.TopicCommand;
import partwright.Answers;

/**
 * A question has `brokers`, lists of an id and a rack or null; `partitions`, `replication_factor`, `start_partition`, and
 * `start_index` or the `seed` of the class's own random numbers, of which the answer then has the two that were drawn,
 * `start_index` and `shift`. Or it has a `text` for `--replica-assignment`.
 */
public final class PlacementAnswers {
    private PlacementAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Field numbers = AdminUtils.class.getDeclaredField("RAND");
        numbers.setAccessible(true);
        Random random = (Random) numbers.get(null);
        Method parser = TopicCommand.class.getDeclaredMethod("parseReplicaAssignment", String.class);
        parser.setAccessible(true);
        Answers.all((question, answer) -> {
            if (question.has("text")) {
                Answers.putReplicas(answer, parsed(parser, question.get("text").asText()).values());
                return;
            }
            List<BrokerMetadata> brokers = new ArrayList<>();
            question.get("brokers").forEach(broker -> brokers.add(
                    new BrokerMetadata(broker.get(0).asInt(), Optional.ofNullable(broker.get(1).textValue()))));
            int start = -1;
            if (question.has("seed")) {
                Random same = new Random(question.get("seed").asLong());
                random.setSeed(question.get("seed").asLong());
                answer.put("start_index", same.nextInt(brokers.size()));
                answer.put("shift", same.nextInt(brokers.size()));
            } else {
                start = question.get("start_index").asInt();
            }
            Map<Integer, List<Integer>> placed = AdminUtils.assignReplicasToBrokers(
                    brokers,
                    question.get("partitions").asInt(),
                    question.get("replication_factor").asInt(),
                    start,
                    question.get("start_partition").asInt());
            Answers.putReplicas(answer, new TreeMap<>(placed).values());
        }, AdminUtils.class, TopicCommand.class);
    }

    @SuppressWarnings("unchecked")
    private static Map<Integer, List<Integer>> parsed(Method parser, String text) throws Exception {
        try {
            return (Map<Integer, List<Integer>>) parser.invoke(null, text);
        } catch (InvocationTargetException wrapped) {
            throw (Exception) wrapped.getCause();
        }
    }
}
