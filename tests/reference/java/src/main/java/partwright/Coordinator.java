// A real group coordinator on one thread: Kafka's own service, over a log, a clock and timers of ours.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.yammer.metrics.core.MetricsRegistry;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.GroupMetadataManager;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;

/**
 * `GroupCoordinatorService`, `CoordinatorRuntime` and `GroupCoordinatorShard` are put together as
 * `GroupCoordinatorService.Builder` does it, whose threads alone are others. There is one group.
 */
final class Coordinator {
    /** The group's id. */
    static final String GROUP = "group";

    /** The one partition of its log. */
    private static final int PARTITION = 0;

    /** What the clock says when a script begins: an assignment that was made at 0 counts as none. */
    static final long BEGIN_MS = 1_700_000_000_000L;

    /** A question's config has these, where it does not say otherwise; the rest is Kafka's default. */
    private static final Map<String, Object> CONFIG = Map.of(
            // An empty group is not cleaned up.
            "offsets.retention.check.interval.ms", Long.MAX_VALUE / 2,
            // The bounds of a group's timeouts: a question's may be short.
            "group.consumer.min.session.timeout.ms", 1,
            "group.consumer.max.session.timeout.ms", Integer.MAX_VALUE,
            "group.consumer.min.heartbeat.interval.ms", 1,
            "group.consumer.max.heartbeat.interval.ms", Integer.MAX_VALUE,
            "group.consumer.max.assignment.interval.ms", Integer.MAX_VALUE);

    /** What is asked of it. */
    final GroupCoordinatorService service;

    /** The cluster's topics. */
    final CoordinatorTopics topics = new CoordinatorTopics();

    private final BatchClock clock = new BatchClock();
    private final CoordinatorTimers timers = new CoordinatorTimers(clock);
    private GroupCoordinatorShard shard;
    private int epoch = 1;

    Coordinator(JsonNode config, JsonNode present) throws ReflectiveOperationException {
        clock.set(BEGIN_MS);
        Map<String, Object> given = new HashMap<>(CONFIG);
        config.properties().forEach(setting -> given.put(setting.getKey(), setting(setting.getValue())));
        AbstractConfig all = new AbstractConfig(
                Utils.mergeConfigs(List.of(GroupCoordinatorConfig.CONFIG_DEF, ShareGroupConfig.CONFIG_DEF)), given, false);
        GroupCoordinatorConfig settings = new GroupCoordinatorConfig(all);
        GroupConfigManager groups = new GroupConfigManager(settings, new ShareGroupConfig(all));
        GroupCoordinatorMetrics metrics = new GroupCoordinatorMetrics(new MetricsRegistry(), new Metrics());
        LogContext context = new LogContext();
        CoordinatorLog log = new CoordinatorLog();
        CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime =
                new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
                        .withTime(clock)
                        .withTimer(timers)
                        .withLogPrefix("")
                        .withLogContext(context)
                        .withEventProcessor(new CoordinatorEvents())
                        .withPartitionWriter(log)
                        .withLoader(log)
                        .withCoordinatorShardBuilderSupplier(() -> new GroupCoordinatorShard.Builder(settings, groups) {
                            @Override
                            public GroupCoordinatorShard build() {
                                shard = super.build();
                                return shard;
                            }
                        }.withAuthorizerPlugin(Optional.empty()))
                        .withWriteTimeout(Duration.ofMillis(settings.offsetCommitTimeoutMs()))
                        .withCoordinatorRuntimeMetrics((CoordinatorRuntimeMetrics) Proxy.newProxyInstance(
                                Coordinator.class.getClassLoader(),
                                new Class<?>[] {CoordinatorRuntimeMetrics.class},
                                (proxy, method, arguments) -> null))
                        .withCoordinatorMetrics(metrics)
                        .withSerializer(new GroupCoordinatorRecordSerde())
                        .withCompression(Compression.of(settings.offsetTopicCompressionType()).build())
                        .withAppendLingerMs(settings.appendLingerMs())
                        .withExecutorService(new CoordinatorEvents.Background())
                        .withCachedBufferMaxBytesSupplier(settings::cachedBufferMaxBytes)
                        .build();
        Constructor<?> constructor = GroupCoordinatorService.class.getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        service = (GroupCoordinatorService) constructor.newInstance(
                context, settings, runtime, metrics, groups, null, timers, null, Optional.empty(), clock);
        service.startup(() -> 1);
        topics.become(present, service);
        service.onElection(PARTITION, epoch);
    }

    /** Another broker takes the group over: this one lets it go, and a new shard reads the log. */
    void move() {
        service.onResignation(PARTITION, OptionalInt.of(++epoch));
        service.onElection(PARTITION, ++epoch);
    }

    /** Lets time pass up to an instant of the script: what is due by then has happened. */
    void advanceTo(long instantMs) {
        timers.advanceTo(BEGIN_MS + instantMs);
    }

    /** When the next of its timers is due, or `Long.MAX_VALUE`. */
    long nextMs() {
        long atMs = timers.nextMs();
        return atMs == Long.MAX_VALUE ? atMs : atMs - BEGIN_MS;
    }

    /** What the script's clock says. */
    long nowMs() {
        return clock.milliseconds() - BEGIN_MS;
    }

    /** The group as it is now; null before there is one. */
    Group group() throws ReflectiveOperationException {
        Field manager = GroupCoordinatorShard.class.getDeclaredField("groupMetadataManager");
        manager.setAccessible(true);
        return ((GroupMetadataManager) manager.get(shard)).maybeGroup(GROUP, Long.MAX_VALUE);
    }

    private static Object setting(JsonNode given) {
        if (!given.isArray()) {
            return given.asText();
        }
        StringBuilder list = new StringBuilder();
        given.forEach(each -> list.append(list.isEmpty() ? "" : ",").append(each.asText()));
        return list.toString();
    }

    /** A request of a version, from a client. */
    record Request(int requestVersion, String clientId) implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "PLAINTEXT";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public KafkaPrincipal principal() {
            return KafkaPrincipal.ANONYMOUS;
        }

        @Override
        public InetAddress clientAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public int requestType() {
            return 0;
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }
}
