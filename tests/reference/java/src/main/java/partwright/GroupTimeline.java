// A real group in real time: consumers of Kafka's own client join, leave, crash and return by a script.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Standard input is one script: `config` of all consumers, `events` in the order of their `at_ms`, and `end_ms`; a `join`
 * may have the `poll_ms` for which its application works from one poll to the next. Lines of
 * JSON come out, each with `at_ms`, `member` and `event`: `joins`, `leaves` and `crashes` as the script has them,
 * `assign` (a leader's assignor was asked), `told` (an assignment arrived), `assigned`, `revoked` and `lost` (the listener was
 * called), `has` (a poll has come back, with another generation, member id or assignment than the one before), `failed`.
 */
public final class GroupTimeline {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(10);
    private static long beginNs;

    private GroupTimeline() {}

    /** Plays the script, and ends when its time is over; the group is left as it is then. */
    public static void main(String[] args) throws IOException, InterruptedException, ExecutionException {
        JsonNode script = JSON.readTree(System.in);
        Map<String, Member> members = new HashMap<>();
        Properties reached = new Properties();
        reached.put("bootstrap.servers", script.get("config").get("bootstrap.servers").asText());
        try (Admin admin = Admin.create(reached)) {
            beginNs = System.nanoTime();
            for (JsonNode event : script.get("events")) {
                waitUntil(event.get("at_ms").asLong());
                if (event.has("join")) {
                    Member member = new Member(script.get("config"), event);
                    members.put(member.name, member);
                    member.start();
                } else if (event.has("leave")) {
                    members.get(event.get("leave").asText()).end(End.LEAVES);
                } else if (event.has("crash")) {
                    members.get(event.get("crash").asText()).end(End.CRASHES);
                } else if (event.has("restart")) {
                    members.get(event.get("restart").asText()).end(End.RESTARTS);
                } else if (event.has("stall")) {
                    members.get(event.get("stall").asText()).stall(event.get("for_ms").asLong());
                } else {
                    Map<String, NewPartitions> counts = new HashMap<>();
                    event.get("add_partitions").properties().forEach(topic ->
                            counts.put(topic.getKey(), NewPartitions.increaseTo(topic.getValue().asInt())));
                    admin.createPartitions(counts).all().get();
                }
            }
            waitUntil(script.get("end_ms").asLong());
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void waitUntil(long atMs) throws InterruptedException {
        Thread.sleep(Math.max(0, atMs - nowMs()));
    }

    private static long nowMs() {
        return (System.nanoTime() - beginNs) / 1_000_000;
    }

    /** A line about a member, now. */
    static ObjectNode line(String member, String event) {
        return JSON.createObjectNode().put("at_ms", nowMs()).put("member", member).put("event", event);
    }

    /** Writes a line; consumers do so from their threads. */
    static synchronized void say(ObjectNode line) {
        System.out.println(line);
    }

    /** Writes partitions as pairs. */
    static void write(ArrayNode list, Collection<TopicPartition> partitions) {
        partitions.forEach(each -> list.addArray().add(each.topic()).add(each.partition()));
    }

    private enum End { LEAVES, CRASHES, RESTARTS }

    /** A consumer in a thread of its own. */
    private static final class Member extends Thread {
        final String name;
        private final Properties config = new Properties();
        private final List<String> topics = new ArrayList<>();
        private volatile End end;
        private volatile long stallsMs;
        private final long pollMs;

        Member(JsonNode common, JsonNode event) {
            name = event.get("join").asText();
            setDaemon(true);
            config.put("enable.auto.commit", "false");
            config.put("client.id", name);
            for (JsonNode given : List.of(common, event.path("config"))) {
                given.properties().forEach(each -> config.put(each.getKey(), each.getValue().asText()));
            }
            if (event.hasNonNull("instance_id")) {
                config.put("group.instance.id", event.get("instance_id").asText());
            }
            if (event.hasNonNull("assignor")) {
                if (config.getProperty("group.protocol", "classic").equals("consumer")) {
                    config.put("group.remote.assignor", event.get("assignor").asText());
                } else {
                    config.put("partition.assignment.strategy", classes(event.get("assignor")));
                }
            }
            event.get("topics").forEach(topic -> topics.add(topic.asText()));
            pollMs = event.path("poll_ms").asLong();
        }

        /** Of one assignor, or of a list of them. */
        private static String classes(JsonNode assignors) {
            List<String> classes = new ArrayList<>();
            (assignors.isArray() ? assignors : JSON.createArrayNode().add(assignors))
                    .forEach(each -> classes.add(TimelineAssignors.CLASSES.get(each.asText())));
            return String.join(",", classes);
        }

        @Override
        public void run() {
            do {
                end = null;
                say(line(name, "joins"));
                KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                        config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
                try {
                    live(consumer);
                } catch (RuntimeException failed) {
                    say(line(name, "failed").put("error", failed.toString()));
                    end = end == null ? End.CRASHES : end;
                }
                say(line(name, end == End.LEAVES ? "leaves" : "crashes"));
                consumer.close(CloseOptions.groupMembershipOperation(
                        end == End.LEAVES ? GroupMembershipOperation.LEAVE_GROUP : GroupMembershipOperation.REMAIN_IN_GROUP));
            } while (end == End.RESTARTS);
        }

        private void live(KafkaConsumer<byte[], byte[]> consumer) {
            consumer.subscribe(topics, new Listener(name, consumer));
            ObjectNode last = about(consumer, JSON.createObjectNode(), Set.of());
            while (end == null) {
                if (stallsMs > 0) {
                    stall();
                }
                consumer.poll(POLL);
                ObjectNode now = about(consumer, JSON.createObjectNode(), consumer.assignment());
                if (!now.equals(last)) {
                    say(line(name, "has").setAll(now));
                    last = now;
                }
                work();
            }
        }

        /** What the application does between two polls; it is closed at once. */
        private void work() {
            long untilMs = nowMs() + pollMs;
            try {
                while (end == null && nowMs() < untilMs) {
                    Thread.sleep(Math.min(10, untilMs - nowMs()));
                }
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }

        private void stall() {
            say(line(name, "stalls"));
            try {
                Thread.sleep(stallsMs);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            stallsMs = 0;
        }

        void end(End how) {
            end = how;
        }

        void stall(long forMs) {
            stallsMs = forMs;
        }
    }

    /** Adds what a consumer knows of its group. */
    private static ObjectNode about(
            KafkaConsumer<?, ?> consumer, ObjectNode line, Collection<TopicPartition> partitions) {
        line.put("generation", consumer.groupMetadata().generationId());
        line.put("member_id", consumer.groupMetadata().memberId());
        write(line.putArray("partitions"), partitions);
        return line;
    }

    /** What the application is told. */
    private record Listener(String name, KafkaConsumer<?, ?> consumer) implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            say(about(consumer, line(name, "assigned"), partitions));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            say(about(consumer, line(name, "revoked"), partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            say(about(consumer, line(name, "lost"), partitions));
        }
    }
}
