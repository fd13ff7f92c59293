// Answers which plan `kafka-reassign-partitions.sh --generate` makes of a cluster.
package partwright.v3_9;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.admin.AdminUtils;
import org.apache.kafka.admin.BrokerMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.tools.reassign.ReassignPartitionsCommand;
import partwright.Answers;

/**
 * A question has `brokers`, lists of an id and a rack or null; `topics`, by name how many partitions; their
 * `replication_factor`, and the `seed` of the class's own random numbers. The answer has `topics`, by name the replicas
 * of each partition. The tool looks at no more of today's replicas than how many they are.
 */
public final class GenerateAnswers {
    private GenerateAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Field numbers = AdminUtils.class.getDeclaredField("RAND");
        numbers.setAccessible(true);
        Random random = (Random) numbers.get(null);
        Method generate =
                ReassignPartitionsCommand.class.getDeclaredMethod("calculateAssignment", Map.class, List.class);
        generate.setAccessible(true);
        Answers.all((question, answer) -> {
            List<BrokerMetadata> brokers = new ArrayList<>();
            question.get("brokers").forEach(broker -> brokers.add(
                    new BrokerMetadata(broker.get(0).asInt(), Optional.ofNullable(broker.get(1).textValue()))));
            List<Integer> today = new ArrayList<>();
            for (int replica = 0; replica < question.get("replication_factor").asInt(); replica++) {
                today.add(replica);
            }
            Map<TopicPartition, List<Integer>> current = new HashMap<>();
            question.get("topics").properties().forEach(topic -> {
                for (int partition = 0; partition < topic.getValue().asInt(); partition++) {
                    current.put(new TopicPartition(topic.getKey(), partition), today);
                }
            });
            random.setSeed(question.get("seed").asLong());
            @SuppressWarnings("unchecked")
            Map<TopicPartition, List<Integer>> plan =
                    (Map<TopicPartition, List<Integer>>) generate.invoke(null, current, brokers);
            Map<String, Map<Integer, List<Integer>>> sorted = new TreeMap<>();
            plan.forEach((key, replicas) ->
                    sorted.computeIfAbsent(key.topic(), name -> new TreeMap<>()).put(key.partition(), replicas));
            ObjectNode topics = answer.putObject("topics");
            sorted.forEach((name, partitions) -> {
                ArrayNode rows = topics.putArray(name);
                partitions.values().forEach(replicas -> {
                    ArrayNode row = rows.addArray();
                    replicas.forEach(row::add);
                });
            });
        }, ReassignPartitionsCommand.class, AdminUtils.class);
    }
}
