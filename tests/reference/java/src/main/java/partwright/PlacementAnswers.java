// Answers questions about new topics with the placer of KRaft's controller: where are their replicas?
package partwright;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;

/**
 * A question has `brokers`, lists of an id, a rack or null and whether the broker is fenced, in the order in which the
 * placer is told of them; `partitions`, `replication_factor` and `seed`. The answer has `replicas` and the bounded
 * numbers that the placer drew, `draws`.
 */
public final class PlacementAnswers {
    private PlacementAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Answers.all((question, answer) -> {
            List<UsableBroker> brokers = new ArrayList<>();
            question.get("brokers").forEach(broker -> brokers.add(new UsableBroker(
                    broker.get(0).asInt(), Optional.ofNullable(broker.get(1).textValue()), broker.get(2).asBoolean())));
            Recorded random = new Recorded(question.get("seed").asLong());
            PlacementSpec wanted = new PlacementSpec(
                    question.path("start_partition").asInt(),
                    question.get("partitions").asInt(),
                    (short) question.get("replication_factor").asInt());
            List<PartitionAssignment> placed = new StripedReplicaPlacer(random)
                    .place(wanted, new Described(brokers)).assignments();
            Answers.putReplicas(answer, placed.stream().map(PartitionAssignment::replicas).toList());
            random.drawn.forEach(answer.putArray("draws")::add);
        }, StripedReplicaPlacer.class);
    }

    private record Described(List<UsableBroker> brokers) implements ClusterDescriber {
        @Override
        public Iterator<UsableBroker> usableBrokers() {
            return brokers.iterator();
        }

        @Override
        public Uuid defaultDir(int broker) {
            return Uuid.ZERO_UUID;
        }
    }

    /** Java's own numbers, written down. */
    private static final class Recorded extends Random {
        private static final long serialVersionUID = 1L;
        private final transient List<Integer> drawn = new ArrayList<>();

        Recorded(long seed) {
            super(seed);
        }

        @Override
        public int nextInt(int bound) {
            int found = super.nextInt(bound);
            drawn.add(found);
            return found;
        }
    }
}
