// One consumer of a play: a real one, with its network and its threads, and an application that polls.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.internals.SubscriptionState;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;

/**
 * The application polls when it has started, and then each `poll_ms`. Applications do not poll in step: each has a place of its own within
 * `poll_ms`, which depends on its number as in `partwright group`. What the script tells it interrupts work at once, and a poll by `wakeup`.
 */
public final class LifeMember extends Thread implements LifeConsumer {
    private static final int GOLDEN = 0x9e3779b9;

    private final String name;
    private final LifeTurns turns;
    private final Diary diary;
    private final LifeNetwork network;
    private final String group;
    private final Map<String, Object> config;
    private final JsonNode told;
    private final LifeTime time;
    private Collection<String> topics;
    private Collection<String> subscribes;
    private LifeClient client;
    private Consumer<byte[], byte[]> consumer;
    private SubscriptionState subscriptions;
    private String leaves;
    private boolean isPolling;
    private long stallsUntilMs;
    private long phaseMs;

    /** One of a group; `yields` says whether its network thread goes first, `told` how its application lives. */
    public LifeMember(
            String name,
            String group,
            LifeTurns turns,
            Broker broker,
            BooleanSupplier yields,
            Diary diary,
            Map<String, Object> config,
            JsonNode told) {
        super(name);
        this.name = name;
        this.group = group;
        this.turns = turns;
        this.diary = diary;
        this.config = config;
        this.told = told;
        network = new LifeNetwork(turns, broker, yields);
        time = new LifeTime(turns);
    }

    @Override
    public String id() {
        return name;
    }

    @Override
    public void begin(Collection<String> subscribed, int number) {
        // Steps of the golden section.
        phaseMs = turns.nowMs() + (Integer.toUnsignedLong(number * GOLDEN) * told.get("poll_ms").asLong() >>> Integer.SIZE);
        topics = subscribed;
        // Kafka finds assignors by it.
        setContextClassLoader(getClass().getClassLoader());
        setDaemon(true);
        turns.register(this, this::look);
        start();
    }

    @Override
    public void leave(String operation) {
        leaves = operation;
        interruptWork();
    }

    @Override
    public void subscribe(Collection<String> others) {
        subscribes = others;
        interruptWork();
    }

    @Override
    public void stall(long ms) {
        stallsUntilMs = Math.max(stallsUntilMs, turns.nowMs() + ms);
    }

    @Override
    public void crash() {
        diary.reads(this, Set.of());
        vanish();
    }

    @Override
    public void vanish() {
        network.crash();
        subscriptions = null;
        turns.crash(threads());
    }

    private List<Thread> threads() {
        List<Thread> threads = new ArrayList<>(LifeFields.threads(consumer));
        threads.add(this);
        return threads;
    }

    private void interruptWork() {
        if (isPolling) {
            consumer.wakeup();
        } else {
            LifeTurns.signalAll(this);
        }
    }

    @Override
    public void run() {
        LifeTurns.begin(this);
        try {
            live();
        } catch (LifeTurns.Crashed crashed) {
            subscriptions = null;
        } catch (RuntimeException | Error thrown) {
            LifeTurns.fail(thrown);
        } finally {
            LifeTurns.end(this);
        }
    }

    private void live() {
        client = new LifeClient(name, group, config, network, time);
        consumer = client.consumer;
        subscriptions = client.subscriptions;
        subscribe();
        try {
            while (leaves == null) {
                poll();
            }
        } catch (KafkaException failed) {
            diary.failed(this, failed);
        }
        try {
            client.close(leaves == null ? "DEFAULT" : leaves);
        } catch (KafkaException failed) {
            diary.failed(this, failed);
        }
        look();
        subscriptions = null;
    }

    private void poll() {
        subscribeAnew();
        long beganMs = turns.nowMs();
        isPolling = true;
        try {
            consumer.poll(Duration.ofMillis(told.get("poll_timeout_ms").asLong()));
        } catch (WakeupException woken) {
            // The script has told it something.
        } finally {
            isPolling = false;
        }
        work(nextMs(beganMs));
    }

    /** The first instant of its rhythm that is not over, and not the last poll's. */
    private long nextMs(long beganMs) {
        long pollMs = told.get("poll_ms").asLong();
        if (pollMs == 0) {
            return turns.nowMs();
        }
        long fromMs = Math.max(turns.nowMs(), beganMs + 1);
        return fromMs + Math.floorMod(phaseMs - fromMs, pollMs);
    }

    /** Until an instant, or longer while it stalls; until it is told something. */
    private void work(long workedMs) {
        while (leaves == null && turns.nowMs() < Math.max(workedMs, stallsUntilMs)) {
            subscribeAnew();
            LifeTurns.waitFor(this, Math.max(workedMs, stallsUntilMs));
        }
    }

    private void subscribeAnew() {
        if (subscribes != null) {
            topics = subscribes;
            subscribes = null;
            subscribe();
        }
    }

    private void subscribe() {
        JsonNode listener = told.get("listener");
        if (listener.isBoolean() && !listener.asBoolean()) {
            consumer.subscribe(topics);
        } else {
            // Java's `asLong` of true is 1.
            consumer.subscribe(topics, new Listener(listener.isNumber() ? listener.asLong() : 0));
        }
    }

    /** Tells the diary what it reads: what it has, but for what it is giving up or has not been told of. */
    private void look() {
        if (subscriptions != null) {
            diary.reads(this, LifeFields.read(subscriptions, consumer));
        }
    }

    /** What the application does when it is told: nothing, for so long. */
    private final class Listener implements ConsumerRebalanceListener {
        private final long takesMs;

        Listener(long takesMs) {
            this.takesMs = takesMs;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            takeTime();
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            takeTime();
        }

        private void takeTime() {
            if (takesMs > 0) {
                time.sleep(takesMs);
            }
        }
    }
}
