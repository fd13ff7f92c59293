// Consumers of Kafka's own client that join and leave groups when told to, and print what they get.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A line in is `{"join": name, "topics": [...], "config": {...}}`, `{"leave": name}`, or `{"ids": [...], "config": {...}}`
 * for the ids of topics. A line out is `{"name", "id", "generation", "partitions"}` of a consumer for which one of these
 * has changed, `{"name", "failed"}` where its client threw, or `{"ids": {topic: id}}`.
 */
public final class GroupMembers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(100);

    private GroupMembers() {}

    /** Reads standard input to its end; then all leave. */
    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Member> members = new HashMap<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode told = JSON.readTree(line);
            if (told.has("join")) {
                Member member = new Member(told);
                members.put(told.get("join").asText(), member);
                member.start();
            } else if (told.has("leave")) {
                members.remove(told.get("leave").asText()).end();
            } else {
                say(ids(told));
            }
        }
        for (Member member : members.values()) {
            member.end();
        }
    }

    private static synchronized void say(ObjectNode answer) {
        System.out.println(answer);
    }

    private static Properties config(JsonNode told) {
        Properties config = new Properties();
        told.get("config").properties().forEach(each -> config.put(each.getKey(), each.getValue().asText()));
        return config;
    }

    private static List<String> topics(JsonNode names) {
        List<String> topics = new ArrayList<>();
        names.forEach(name -> topics.add(name.asText()));
        return topics;
    }

    private static ObjectNode ids(JsonNode told) {
        ObjectNode answer = JSON.createObjectNode();
        ObjectNode ids = answer.putObject("ids");
        try (Admin admin = Admin.create(config(told))) {
            Map<String, TopicDescription> found =
                    admin.describeTopics(topics(told.get("ids"))).allTopicNames().get();
            new TreeMap<>(found).forEach((name, topic) -> ids.put(name, topic.topicId().toString()));
        } catch (Exception failed) {
            answer.put("failed", failed.toString());
        }
        return answer;
    }

    /** A consumer in a thread of its own. */
    private static final class Member extends Thread {
        private final JsonNode told;
        private volatile boolean ends;

        Member(JsonNode told) {
            this.told = told;
            setDaemon(true);
        }

        @Override
        public void run() {
            ObjectNode last = JSON.createObjectNode();
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                    config(told), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                consumer.subscribe(topics(told.get("topics")));
                while (!ends) {
                    consumer.poll(POLL);
                    ObjectNode now = now(consumer.groupMetadata(), consumer.assignment());
                    if (!now.equals(last)) {
                        say(now);
                        last = now;
                    }
                }
            } catch (RuntimeException failed) {
                say(JSON.createObjectNode().put("name", name()).put("failed", failed.toString()));
            }
        }

        private String name() {
            return told.get("join").asText();
        }

        private ObjectNode now(ConsumerGroupMetadata metadata, Set<TopicPartition> assignment) {
            ObjectNode now = JSON.createObjectNode().put("name", name());
            now.put("id", metadata.memberId()).put("generation", metadata.generationId());
            ArrayNode partitions = now.putArray("partitions");
            for (TopicPartition partition : assignment) {
                partitions.addArray().add(partition.topic()).add(partition.partition());
            }
            return now;
        }

        /** Leaves the group. */
        void end() throws InterruptedException {
            ends = true;
            join();
        }
    }
}
