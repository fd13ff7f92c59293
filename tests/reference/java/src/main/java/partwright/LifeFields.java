// What a consumer does not tell by itself: what it reads at this moment, and which threads it has.
package partwright;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.internals.SubscriptionState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.internals.PartitionStates;

/** By the names of the client's fields. */
final class LifeFields {
    private static final int NO_GENERATION = -1;

    /** Clients without it return records of what is assigned, whether they are still subscribed to it or not. */
    private static final String HEEDS = "isFetchableAndSubscribed";

    private LifeFields() {}

    /**
     * The partitions whose records a poll may return: those that are assigned, but for those that are being given up, those of which
     * the application has yet to be told, and, of a client that heeds that, those of topics that it has unsubscribed from. A member of
     * the classic protocol that has no generation reads nothing: its next poll begins by losing them.
     */
    static Set<LifeConsumer.Place> read(SubscriptionState subscriptions, Object consumer) {
        Set<LifeConsumer.Place> found = new TreeSet<>();
        Object coordinator = of(consumer, "coordinator");
        if (coordinator != null && (int) of(of(coordinator, "generation"), "generationId") == NO_GENERATION) {
            return found;
        }
        Map<TopicPartition, ?> states = ((PartitionStates<?>) of(subscriptions, "assignment")).partitionStateMap();
        Set<?> subscribed = (Set<?>) of(subscriptions, "subscription");
        boolean heeds = Arrays.stream(subscriptions.getClass().getDeclaredMethods()).anyMatch(each -> each.getName().equals(HEEDS));
        states.forEach((partition, state) -> {
            boolean isReady = !(boolean) of(state, "pendingRevocation") && !(boolean) of(state, "pendingOnAssignedCallback");
            if (isReady && (!heeds || subscribed.contains(partition.topic()))) {
                found.add(new LifeConsumer.Place(partition.topic(), partition.partition()));
            }
        });
        return found;
    }

    /** The threads of a consumer besides the application's; they are told that they end. */
    static List<Thread> threads(Object consumer) {
        Object handler = of(consumer, "applicationEventHandler");
        Thread network = (Thread) of(handler, "networkThread");
        if (network != null) {
            set(network, "running", false);
        }
        Thread heartbeat = (Thread) of(of(consumer, "coordinator"), "heartbeatThread");
        return Stream.of(network, heartbeat).filter(Objects::nonNull).toList();
    }

    /** What a field holds; null where there is no object, or none of this name. */
    private static Object of(Object object, String name) {
        if (object == null) {
            return null;
        }
        Field field = field(object.getClass(), name);
        try {
            return field == null ? null : field.get(object);
        } catch (IllegalAccessException refused) {
            throw new IllegalStateException(refused);
        }
    }

    private static void set(Object object, String name, Object value) {
        try {
            field(object.getClass(), name).set(object, value);
        } catch (IllegalAccessException refused) {
            throw new IllegalStateException(refused);
        }
    }

    private static Field field(Class<?> of, String name) {
        for (Class<?> each = of; each != Object.class; each = each.getSuperclass()) {
            try {
                Field field = each.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException absent) {
                // A class above may have it.
            }
        }
        return null;
    }
}
