// What a play knows of a consumer, whichever version of Kafka's client it is of.
package partwright;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Set;
import java.util.function.Consumer;

/** The two sides may be of different Kafkas, each with classes of its own: nothing of Kafka's is named here. */
public interface LifeConsumer {
    /** A partition. */
    record Place(String topic, int partition) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int order = topic.compareTo(other.topic);
            return order == 0 ? Integer.compare(partition, other.partition) : order;
        }
    }

    /** A response, with its header, and how long it is on its way. */
    record Answer(ByteBuffer bytes, long latencyMs) {}

    /** Who answers requests. */
    interface Broker {
        /** Answers one, with its header. */
        void ask(ByteBuffer request, Consumer<Answer> answered);
    }

    /** What becomes of a consumer. */
    interface Diary {
        /** It reads these partitions now. */
        void reads(LifeConsumer consumer, Set<Place> places);

        /** An error has ended it. */
        void failed(LifeConsumer consumer, RuntimeException error);
    }

    /** Its name in the script, which is its client id. */
    String id();

    /** It starts, and subscribes; it has a number among all of the script. */
    void begin(Collection<String> topics, int number);

    /** It closes, by one of Kafka's `CloseOptions`. */
    void leave(String operation);

    /** It subscribes to others. */
    void subscribe(Collection<String> topics);

    /** It begins no poll for so long. */
    void stall(long ms);

    /** It is gone. */
    void crash();

    /** Its threads end, and nobody hears of it. */
    void vanish();
}
