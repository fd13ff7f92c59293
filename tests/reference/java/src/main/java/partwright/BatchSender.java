// The sender's part of a scenario: when it asks the real accumulator for ready batches, and what it does with them.
package partwright;

import static partwright.Strategies.open;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import partwright.BatchLog.Request;
import partwright.BatchScenario.Sent;

/** `Sender.runOnce` in steps, for any version's accumulator; what differs between the versions is left to theirs. */
public abstract class BatchSender {
    private static final long NEVER = Long.MAX_VALUE;
    private static final Method DEQUE;

    static {
        try {
            DEQUE = open(RecordAccumulator.class.getDeclaredMethod("getDeque", TopicPartition.class));
        } catch (NoSuchMethodException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** What is asked. */
    protected final BatchScenario scenario;

    /** The time of it. */
    protected final BatchClock clock = new BatchClock();

    private final BatchLog log;
    private final List<Request> inFlight = new ArrayList<>();
    private final int maxInFlight;
    private int appended;
    private boolean flushes;
    private long timerMs = NEVER;

    /** `drainsInOrder` is false where the order in which a broker's batches are drained is left to chance. */
    protected BatchSender(BatchScenario scenario, boolean drainsInOrder) {
        this.scenario = scenario;
        maxInFlight = scenario.number("max.in.flight.requests.per.connection");
        log = new BatchLog(scenario.number("linger.ms"), drainsInOrder);
    }

    /** Where a record was appended, and whether KafkaProducer wakes the sender for it. */
    public record Appended(int partition, boolean wakes) {}

    /** The accumulator. */
    protected abstract RecordAccumulator accumulator();

    /** Appends a record as KafkaProducer does. */
    protected abstract Appended append(Sent record) throws InterruptedException;

    /** Asks which brokers are ready. */
    protected abstract RecordAccumulator.ReadyCheckResult ready(long nowMs);

    /** Tells the statistics of a ready broker whether it takes a request. */
    protected abstract void tell(int broker, long nowMs, boolean canDrain);

    /** Drains these brokers, in this order. */
    protected abstract Map<Integer, List<ProducerBatch>> drain(Set<Node> brokers, long nowMs);

    /** Begins with a question. */
    @FunctionalInterface
    public interface Maker {
        /** Everything is made anew. */
        BatchSender make(JsonNode question) throws ReflectiveOperationException;
    }

    /** Reads standard input to its end. */
    public static void answer(String version, Maker maker) throws Exception {
        Strategies.Source draws = new Strategies.ThreadDraws();
        Answers.answer("kafka-clients", version, question -> {
            BatchSender sender = maker.make(question);
            ObjectNode answer = JsonNodeFactory.instance.objectNode();
            Strategies.draw(draws, question, answer, sender::run);
            sender.log.write(answer);
            return answer;
        });
    }

    /** Goes from instant to instant until nothing is left to happen. */
    private void run() throws ReflectiveOperationException, InterruptedException {
        for (long nowMs = next(); nowMs != NEVER; nowMs = next()) {
            clock.set(nowMs);
            scenario.returns.headSet(nowMs + 1).clear();
            respond(nowMs);
            append(nowMs);
            if (hasFlush() && scenario.flushMs <= nowMs) {
                accumulator().beginFlush();
                flushes = true;
            }
            send(nowMs);
        }
    }

    private long next() {
        long nextMs = timerMs;
        if (appended < scenario.records.size()) {
            nextMs = Math.min(nextMs, scenario.records.get(appended).time());
        }
        if (!scenario.returns.isEmpty()) {
            nextMs = Math.min(nextMs, scenario.returns.first());
        }
        for (Request request : inFlight) {
            nextMs = Math.min(nextMs, request.doneMs());
        }
        return hasFlush() ? Math.min(nextMs, Math.max(clock.milliseconds(), scenario.flushMs)) : nextMs;
    }

    private boolean hasFlush() {
        return !flushes && scenario.flushMs != null && appended == scenario.records.size();
    }

    private void respond(long nowMs) {
        List<Request> due = inFlight.stream().filter(request -> request.doneMs() <= nowMs).toList();
        inFlight.removeAll(due);
        for (Request request : due) {
            if (request.ok()) {
                log.acked(request);
            }
            for (ProducerBatch batch : request.batches()) {
                if (!request.ok()) {
                    accumulator().reenqueue(batch, nowMs);
                }
                if (maxInFlight == 1) {
                    accumulator().unmutePartition(log.partition(batch));
                }
            }
        }
    }

    private void append(long nowMs) throws ReflectiveOperationException, InterruptedException {
        while (appended < scenario.records.size() && scenario.records.get(appended).time() <= nowMs) {
            Appended to = append(scenario.records.get(appended));
            Deque<?> batches =
                    (Deque<?>) DEQUE.invoke(accumulator(), new TopicPartition(BatchScenario.TOPIC, to.partition()));
            log.appended(to.partition(), (ProducerBatch) batches.peekLast(), nowMs);
            appended++;
            if (scenario.eachAppend && to.wakes()) {
                send(nowMs);
            }
        }
    }

    /** `Sender.sendProducerData`, again and again, as it is called while it has something to send. */
    private void send(long nowMs) throws ReflectiveOperationException {
        boolean drained = true;
        while (drained) {
            RecordAccumulator.ReadyCheckResult looked = ready(nowMs);
            timerMs = looked.nextReadyCheckDelayMs == NEVER ? NEVER : nowMs + looked.nextReadyCheckDelayMs;
            Set<Node> accepting = new TreeSet<>(Comparator.comparingInt(Node::id));
            for (Node node : looked.readyNodes) {
                boolean accepts = accepts(node.id(), nowMs);
                tell(node.id(), nowMs, accepts);
                if (accepts) {
                    accepting.add(node);
                }
            }
            drained = false;
            for (Map.Entry<Integer, List<ProducerBatch>> broker : new TreeMap<>(drain(accepting, nowMs)).entrySet()) {
                if (!broker.getValue().isEmpty()) {
                    drained = true;
                    send(broker.getKey(), nowMs, broker.getValue());
                }
            }
        }
    }

    private boolean accepts(int broker, long nowMs) {
        return !scenario.isAway(broker, nowMs)
                && inFlight.stream().filter(request -> request.node() == broker).count() < maxInFlight;
    }

    private void send(int broker, long nowMs, List<ProducerBatch> batches) throws ReflectiveOperationException {
        long doneMs = nowMs + scenario.latencyMs(broker);
        boolean ok = !scenario.failed.contains(log.nextRequest());
        inFlight.add(log.sent(broker, nowMs, doneMs, ok, flushes, batches));
        if (maxInFlight == 1) {
            batches.forEach(batch -> accumulator().mutePartition(log.partition(batch)));
        }
    }
}
