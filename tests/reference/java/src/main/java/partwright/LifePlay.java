// Plays one script of `partwright group` with real consumers and the real coordinator, under a clock of ours.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import partwright.LifeConsumer.Place;

/** What comes of it is who reads which partition from when on. */
final class LifePlay implements LifeConsumer.Diary {
    private static final long AFTERWARDS_MS = 300_000;
    private static final Map<String, String> ASSIGNORS = Map.of(
            "range", "org.apache.kafka.clients.consumer.RangeAssignor",
            "roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor",
            "sticky", "org.apache.kafka.clients.consumer.StickyAssignor",
            "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
    private static final Set<String> OF_CLASSIC =
            Set.of("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy");
    private static final int SELDOM = 10;
    private static final String STRATEGY = "partition.assignment.strategy";
    private static final String REMOTE = "group.remote.assignor";

    private final JsonNode script;
    private final LifeLoader loader;
    private final boolean isConsumer;
    private final Coordinator coordinator;
    private final LifeTurns turns;
    private final LifeBroker broker;
    private final Map<String, Integer> topics = new TreeMap<>();
    private final Map<String, LifeConsumer> members = new LinkedHashMap<>();
    private final Map<String, ObjectNode> settings = new HashMap<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<LifeConsumer, Set<Place>> read = new IdentityHashMap<>();
    private final Map<Place, LifeConsumer> readers = new HashMap<>();
    private final Set<String> called = new HashSet<>();
    private final ObjectNode answer = JsonNodeFactory.instance.objectNode();
    private final ArrayNode changes = answer.putArray("changes");
    private final ArrayNode generations = answer.putArray("generations");
    private final ArrayNode failures = answer.putArray("failures");
    private final ArrayNode ids = answer.putArray("ids");
    private final SplittableRandom random;
    private int generation;

    LifePlay(JsonNode script, LifeLoader loader) throws ReflectiveOperationException {
        this.script = script;
        this.loader = loader;
        random = new SplittableRandom(script.path("race").asLong());
        isConsumer = script.path("protocol").asText("classic").equals("consumer");
        ObjectNode ofBroker = JsonNodeFactory.instance.objectNode();
        script.path("config").properties().forEach(each -> {
            if (isOfBroker(each.getKey())) {
                ofBroker.set(each.getKey(), each.getValue());
            }
        });
        script.get("topics").properties().forEach(each -> topics.put(each.getKey(), each.getValue().asInt()));
        coordinator = new Coordinator(ofBroker, script.get("topics"));
        turns = new LifeTurns(new LifeTurns.Timers() {
            @Override
            public long nextMs() {
                return coordinator.nextMs();
            }

            @Override
            public void advanceTo(long instantMs) {
                coordinator.advanceTo(instantMs);
                lookAtGroup();
            }
        });
        Set<String> idle = new HashSet<>();
        script.path("idle_topics").forEach(each -> idle.add(each.asText()));
        long latencyMs = script.path("latency_ms").asLong(10);
        broker = new LifeBroker(coordinator, turns, idle, latencyMs, this::lookAtGroup, this::isCalled);
    }

    private static boolean isOfBroker(String key) {
        return key.startsWith("group.") && !Set.of("group.instance.id", REMOTE).contains(key);
    }

    /** Plays it. */
    ObjectNode answer() {
        long lastMs = 0;
        for (JsonNode event : script.get("events")) {
            lastMs = event.get("at_ms").asLong();
            turns.at(lastMs, () -> happen(event));
        }
        turns.play(script.path("until_ms").asLong(lastMs + AFTERWARDS_MS), () -> members.values().forEach(LifeConsumer::vanish));
        return answer;
    }

    private void happen(JsonNode event) {
        if (event.has("join")) {
            join(event.get("join").asText(), event);
        } else if (event.has("leave")) {
            members.get(event.get("leave").asText())
                    .leave(event.path("operation").asText("DEFAULT"));
        } else if (event.has("restart")) {
            String name = event.get("restart").asText();
            members.get(name).leave("DEFAULT");
            long downMs = event.path("down_ms").asLong(script.path("down_ms").asLong(5000));
            turns.at(turns.nowMs() + downMs, () -> join(name, event));
        } else if (event.has("crash")) {
            members.get(event.get("crash").asText()).crash();
        } else if (event.has("stall")) {
            members.get(event.get("stall").asText()).stall(event.get("for_ms").asLong());
        } else if (event.has("subscribe")) {
            members.get(event.get("subscribe").asText()).subscribe(texts(event.get("topics")));
        } else if (event.has("add_partitions")) {
            change(event.get("add_partitions"), (topic, count) -> topics.merge(topic, count, Integer::sum));
        } else if (event.has("create_topic")) {
            change(event.get("create_topic"), topics::put);
        } else if (event.has("delete_topic")) {
            String topic = event.get("delete_topic").asText();
            topics.remove(topic);
            become();
            List<Place> gone = readers.keySet().stream()
                    .filter(each -> each.topic().equals(topic))
                    .sorted(Comparator.comparingInt(Place::partition))
                    .toList();
            gone.forEach(each -> changed(each, null));
            readers.keySet().removeAll(gone);
        } else if (event.has("move_coordinator")) {
            coordinator.advanceTo(turns.nowMs());
            coordinator.move();
        } else {
            throw new IllegalArgumentException("no consumer does this: " + event);
        }
    }

    private void change(JsonNode counts, BiConsumer<String, Integer> changes) {
        counts.properties().forEach(each -> changes.accept(each.getKey(), each.getValue().asInt()));
        become();
    }

    private void become() {
        ObjectNode now = JsonNodeFactory.instance.objectNode();
        topics.forEach(now::put);
        coordinator.advanceTo(turns.nowMs());
        coordinator.topics.become(now, coordinator.service);
    }

    /** A member's settings are those of before, but for what the event says. */
    private void join(String name, JsonNode event) {
        ObjectNode told = settings.computeIfAbsent(name, any -> {
            ObjectNode first = JsonNodeFactory.instance.objectNode();
            first.put("poll_ms", 500).put("poll_timeout_ms", 100).put("listener", false).putObject("config");
            if (script.path("static").asBoolean()) {
                first.put("instance_id", name);
            }
            List.of("poll_ms", "poll_timeout_ms", "listener", "assignor", "config").forEach(field -> copy(script, first, field));
            return first;
        });
        List.of("poll_ms", "poll_timeout_ms", "listener", "assignor", "config", "topics", "instance_id")
                .forEach(field -> copy(event, told, field));
        LifeConsumer member = loader.consumer(name, turns, broker, this::isFast, this, config(told), told);
        members.put(name, member);
        int number = numbers.computeIfAbsent(name, any -> numbers.size());
        member.begin(told.has("topics") ? texts(told.get("topics")) : texts(script.get("topics")), number);
    }

    /** Whether the network thread is quicker than the application this time: never, always, or one of ten times by a seed. */
    private boolean isFast() {
        JsonNode race = script.path("race");
        return isConsumer && (race.isNumber() ? random.nextInt(SELDOM) == 0 : race.asText().equals("fast"));
    }

    private static void copy(JsonNode from, ObjectNode to, String field) {
        if (field.equals("config")) {
            from.path(field).properties().forEach(each -> to.withObject(field).set(each.getKey(), each.getValue()));
        } else if (from.has(field)) {
            to.set(field, from.get(field));
        }
    }

    private Map<String, Object> config(ObjectNode told) {
        Map<String, Object> config = new HashMap<>();
        config.put("group.protocol", isConsumer ? "consumer" : "classic");
        if (told.hasNonNull("instance_id")) {
            config.put("group.instance.id", told.get("instance_id").asText());
        }
        told.get("config").properties().forEach(each -> {
            if (!isOfBroker(each.getKey()) && !(isConsumer ? OF_CLASSIC.contains(each.getKey()) : each.getKey().equals(REMOTE))) {
                config.put(each.getKey(), each.getValue().asText());
            }
        });
        List<String> assignors = texts(told.path("assignor"));
        if (!assignors.isEmpty()) {
            config.put(isConsumer ? REMOTE : STRATEGY, String.join(",", assignors));
        }
        config.computeIfPresent(STRATEGY, (key, given) -> String.join(
                ",", List.of(((String) given).split(",")).stream().map(each -> ASSIGNORS.getOrDefault(each, each)).toList()));
        return config;
    }

    /** A text, a list of them, or the names of an object's fields. */
    private static List<String> texts(JsonNode given) {
        List<String> found = new ArrayList<>();
        if (given.isTextual()) {
            found.add(given.asText());
        } else if (given.isObject()) {
            given.fieldNames().forEachRemaining(found::add);
        } else {
            given.forEach(each -> found.add(each.asText()));
        }
        return found;
    }

    private void lookAtGroup() {
        try {
            Group group = coordinator.group();
            int found = group instanceof ClassicGroup classic
                    ? classic.generationId()
                    : group instanceof ConsumerGroup consumer ? consumer.assignmentEpoch() : 0;
            if (found != generation) {
                generation = found;
                generations.addArray().add(turns.nowMs()).add(found);
            }
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void reads(LifeConsumer member, Set<Place> partitions) {
        Set<Place> before = read.getOrDefault(member, Set.of());
        if (partitions.equals(before)) {
            return;
        }
        read.put(member, partitions);
        before.forEach(each -> {
            if (!partitions.contains(each) && readers.get(each) == member) {
                // Who had it before, and has not noticed yet that it may not, reads on.
                LifeConsumer other = members.values().stream()
                        .filter(one -> read.getOrDefault(one, Set.of()).contains(each))
                        .findFirst()
                        .orElse(null);
                readers.remove(each);
                if (other != null) {
                    readers.put(each, other);
                }
                changed(each, other == null ? null : other.id());
            }
        });
        partitions.forEach(each -> {
            if (!before.contains(each) && topics.containsKey(each.topic())) {
                readers.put(each, member);
                changed(each, member.id());
            }
        });
    }

    private void changed(Place partition, String reader) {
        changes.addArray().add(turns.nowMs()).add(partition.topic()).add(partition.partition()).add(reader);
    }

    @Override
    public void failed(LifeConsumer member, RuntimeException error) {
        failures.addArray().add(turns.nowMs()).add(member.id()).add(error.getClass().getSimpleName());
    }

    private void isCalled(String name, String id) {
        if (!id.isEmpty() && called.add(id)) {
            ids.addArray().add(turns.nowMs()).add(name).add(id);
        }
    }
}
