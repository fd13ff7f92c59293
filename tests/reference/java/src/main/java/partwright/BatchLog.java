// The history of batches, read from the real ones.
package partwright;

import static partwright.Strategies.open;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.common.TopicPartition;

/** The records, batches and requests of an answer. */
public final class BatchLog {
    private static final Field CREATED;
    private static final Field COUNT;
    private static final Method WAITED;

    static {
        try {
            CREATED = open(ProducerBatch.class.getDeclaredField("createdMs"));
            COUNT = open(ProducerBatch.class.getDeclaredField("recordCount"));
            WAITED = open(ProducerBatch.class.getDeclaredMethod("waitedTimeMs", long.class));
        } catch (NoSuchFieldException | NoSuchMethodException missing) {
            throw new IllegalStateException(missing);
        }
    }

    private final int lingerMs;
    private final boolean inDrainOrder;
    private final Map<ProducerBatch, Seen> seen = new IdentityHashMap<>();
    private final List<Seen> batches = new ArrayList<>();
    private final Set<Seen> open = new LinkedHashSet<>();
    private final List<int[]> placed = new ArrayList<>();
    private final List<Request> requests = new ArrayList<>();

    /** A batch; `why` is null as long as it is open. */
    private static final class Seen {
        private final int id;
        private final int partition;
        private final int first;
        private final ProducerBatch batch;
        private final List<Request> sends = new ArrayList<>();
        private Long closedMs;
        private String why;
        private Long ackedMs;

        Seen(int id, int partition, int first, ProducerBatch batch) {
            this.id = id;
            this.partition = partition;
            this.first = first;
            this.batch = batch;
        }

        void close(long nowMs, String reason) {
            closedMs = nowMs;
            why = reason;
        }
    }

    /** A request to a broker. */
    public record Request(int id, int node, long sentMs, long doneMs, boolean ok, List<ProducerBatch> batches) {}

    /** `inDrainOrder` is false where the order in which batches are drained is left to chance. */
    public BatchLog(int lingerMs, boolean inDrainOrder) {
        this.lingerMs = lingerMs;
        this.inDrainOrder = inDrainOrder;
    }

    /** A record is in a batch. What it filled is full; what else has become full had no room for it. */
    public void appended(int partition, ProducerBatch batch, long nowMs) {
        Seen to = seen.computeIfAbsent(batch, one -> {
            Seen made = new Seen(batches.size(), partition, placed.size(), one);
            batches.add(made);
            open.add(made);
            return made;
        });
        placed.add(new int[] {partition, to.id});
        open.removeIf(each -> {
            if (each.batch.isFull()) {
                each.close(nowMs, each == to ? "full" : "no-room");
            }
            return each.why != null;
        });
    }

    /** Batches leave, for the first time or again. */
    public Request sent(int node, long nowMs, long doneMs, boolean ok, boolean flushes, List<ProducerBatch> drained)
            throws ReflectiveOperationException {
        Request request = new Request(requests.size(), node, nowMs, doneMs, ok, drained);
        requests.add(request);
        for (ProducerBatch batch : drained) {
            Seen left = seen.get(batch);
            if (open.remove(left)) {
                boolean lingered = (long) WAITED.invoke(batch, nowMs) >= lingerMs;
                left.close(nowMs, lingered ? "linger" : flushes ? "flush" : "node");
            }
            left.sends.add(request);
        }
        return request;
    }

    /** A request is answered, and its batches are complete. */
    public void acked(Request request) {
        request.batches.forEach(batch -> seen.get(batch).ackedMs = request.doneMs);
    }

    /** The id of the next request. */
    public int nextRequest() {
        return requests.size();
    }

    /** Where a batch goes. */
    public TopicPartition partition(ProducerBatch batch) {
        return new TopicPartition(BatchScenario.TOPIC, seen.get(batch).partition);
    }

    /** Writes it all into an answer. */
    public void write(ObjectNode answer) throws ReflectiveOperationException {
        ArrayNode records = answer.putArray("placed");
        placed.forEach(place -> records.addArray().add(place[0]).add(place[1]));
        ArrayNode written = answer.putArray("batches");
        for (Seen batch : batches) {
            ObjectNode one = written.addObject()
                    .put("id", batch.id)
                    .put("partition", batch.partition)
                    .put("first_record", batch.first)
                    .put("records", COUNT.getInt(batch.batch))
                    .put("bytes", bytes(batch.batch))
                    .put("opened_ms", CREATED.getLong(batch.batch))
                    .put("closed_ms", batch.sends.isEmpty() ? null : batch.closedMs)
                    .put("why", batch.sends.isEmpty() ? null : batch.why);
            ArrayNode sends = one.putArray("sends");
            batch.sends.forEach(request -> sends.addArray().add(request.id).add(request.sentMs));
            one.put("acked_ms", batch.ackedMs);
        }
        ArrayNode asked = answer.putArray("requests");
        for (Request request : requests) {
            ObjectNode one = asked.addObject()
                    .put("id", request.id)
                    .put("node", request.node)
                    .put("sent_ms", request.sentMs)
                    .put("done_ms", request.doneMs)
                    .put("ok", request.ok)
                    .put("bytes", request.batches.stream().mapToInt(BatchLog::bytes).sum());
            ArrayNode ids = one.putArray("batches");
            IntStream drained = request.batches.stream().mapToInt(batch -> seen.get(batch).id);
            (inDrainOrder ? drained : drained.sorted()).forEach(ids::add);
        }
    }

    /** The size in a request; of a batch that has not left, what it would be. */
    private static int bytes(ProducerBatch batch) {
        return batch.isClosed() ? batch.records().sizeInBytes() : batch.estimatedSizeInBytes();
    }
}
