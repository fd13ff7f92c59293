// Makes and closes a real consumer over a network and a clock of ours, of whichever version of Kafka's client is there.
package partwright;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerDelegateCreator;
import org.apache.kafka.clients.consumer.internals.ConsumerMetadata;
import org.apache.kafka.clients.consumer.internals.SubscriptionState;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.network.Selectable;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.Time;

/** Constructors have other arguments in other versions: they are found by their types. */
final class LifeClient {
    private static final String SERVER = "127.0.0.1";
    private static final int PORT = 9092;
    private static final int CONNECTION_MS = 10_000;
    private static final int MOST_IN_FLIGHT = 100;
    private static final String CLOSE_OPTIONS = "org.apache.kafka.clients.consumer.CloseOptions";

    /** The consumer. */
    final Consumer<byte[], byte[]> consumer;

    /** What it knows of its partitions. */
    final SubscriptionState subscriptions;

    LifeClient(String name, String group, Map<String, Object> settings, Selectable network, Time time) {
        Map<String, Object> given = new HashMap<>(settings);
        given.put("client.id", name);
        given.put("group.id", group);
        given.put("bootstrap.servers", SERVER + ":" + PORT);
        given.put("enable.metrics.push", "false");
        given.put("key.deserializer", ByteArrayDeserializer.class.getName());
        given.put("value.deserializer", ByteArrayDeserializer.class.getName());
        ConsumerConfig config = new ConsumerConfig(given);
        Object context = make(any("org.apache.kafka.common.utils.internals.LogContext", "org.apache.kafka.common.utils.LogContext"));
        Class<?> reset = any(
                "org.apache.kafka.clients.consumer.internals.AutoOffsetResetStrategy",
                "org.apache.kafka.clients.consumer.OffsetResetStrategy");
        subscriptions = (SubscriptionState) make(SubscriptionState.class, context, constant(reset, "EARLIEST"));
        ConsumerMetadata metadata = (ConsumerMetadata)
                make(ConsumerMetadata.class, config, subscriptions, context, new ClusterResourceListeners());
        metadata.bootstrap(List.of(new InetSocketAddress(SERVER, PORT)));
        consumer = delegate(config, context, client(name, config, context, metadata, network, time), metadata, time);
    }

    /** Closes it, where it can be told how, by one of `CloseOptions`. */
    void close(String operation) {
        Class<?> options = any(CLOSE_OPTIONS, "java.lang.Void");
        if (options == Void.class) {
            consumer.close();
            return;
        }
        Class<?> operations = any(CLOSE_OPTIONS + "$GroupMembershipOperation");
        try {
            Object chosen = options.getMethod("groupMembershipOperation", operations).invoke(null, constant(operations, operation));
            call(consumer, Consumer.class.getMethod("close", options), chosen);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static NetworkClient client(
            String name, ConsumerConfig config, Object context, ConsumerMetadata metadata, Selectable network, Time time) {
        List<Object> given = new ArrayList<>(List.of(
                network,
                metadata,
                name,
                MOST_IN_FLIGHT,
                config.getLong("reconnect.backoff.ms"),
                config.getLong("reconnect.backoff.max.ms"),
                0,
                0,
                config.getInt("request.timeout.ms"),
                (long) CONNECTION_MS,
                (long) CONNECTION_MS,
                time,
                true,
                new ApiVersions(),
                context));
        Constructor<?> fewest = Arrays.stream(NetworkClient.class.getConstructors())
                .filter(each -> each.getParameterTypes()[1] == Metadata.class
                        && each.getParameterTypes()[given.size() - 1].isInstance(context))
                .min(Comparator.comparingInt(Constructor::getParameterCount))
                .orElseThrow();
        // What newer versions have more is switched off.
        for (int place = given.size(); place < fewest.getParameterCount(); place++) {
            Class<?> type = fewest.getParameterTypes()[place];
            given.add(type == boolean.class ? false : constant(type, type.isEnum() ? "NONE" : "DISABLED"));
        }
        return (NetworkClient) made(fewest, given.toArray());
    }

    @SuppressWarnings("unchecked")
    private Consumer<byte[], byte[]> delegate(
            ConsumerConfig config, Object context, NetworkClient client, ConsumerMetadata metadata, Time time) {
        List<ConsumerPartitionAssignor> assignors = ConsumerPartitionAssignor.getAssignorInstances(
                config.getList("partition.assignment.strategy"), Map.of());
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        Object[] given = {context, time, config, bytes, bytes, client, subscriptions, metadata, assignors};
        Method create = Arrays.stream(ConsumerDelegateCreator.class.getMethods())
                .filter(each -> each.getName().equals("create") && each.getParameterCount() == given.length)
                .findFirst()
                .orElseThrow();
        return (Consumer<byte[], byte[]>) call(new ConsumerDelegateCreator(), create, given);
    }

    /** The first class of these names that there is. */
    private static Class<?> any(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException absent) {
                // The next one may be there.
            }
        }
        throw new IllegalStateException("there is no class " + String.join(" or ", names));
    }

    private static Object constant(Class<?> of, String name) {
        try {
            return of.getField(name).get(null);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static Object make(Class<?> of, Object... given) {
        for (Constructor<?> each : of.getConstructors()) {
            Class<?>[] types = each.getParameterTypes();
            boolean fits = types.length == given.length;
            for (int place = 0; fits && place < types.length; place++) {
                fits = types[place].isInstance(given[place]);
            }
            if (fits) {
                return made(each, given);
            }
        }
        throw new IllegalStateException("no constructor of " + of);
    }

    private static Object made(Constructor<?> constructor, Object... given) {
        try {
            return constructor.newInstance(given);
        } catch (InvocationTargetException thrown) {
            throw unchecked(thrown.getCause());
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static Object call(Object of, Method method, Object... given) {
        try {
            return method.invoke(of, given);
        } catch (InvocationTargetException thrown) {
            throw unchecked(thrown.getCause());
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException given ? given : new IllegalStateException(thrown);
    }
}
