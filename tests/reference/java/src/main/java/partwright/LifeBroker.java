// The one broker of a play: it knows the topics, has records, and hands what concerns the group to the real coordinator.
package partwright;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.ListOffsetsRequestData;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import partwright.Coordinator.Request;

/** What the group's coordinator answers takes the script's latency, the rest a millisecond. */
final class LifeBroker implements LifeConsumer.Broker {
    private static final int NODE = 0;
    private static final String HOST = "127.0.0.1";
    private static final int PORT = 9092;
    private static final long NEAR_MS = 1;
    private static final byte[] VALUE = new byte[1];
    private static final Set<ApiKeys> OF_GROUP = EnumSet.of(
            ApiKeys.JOIN_GROUP,
            ApiKeys.SYNC_GROUP,
            ApiKeys.HEARTBEAT,
            ApiKeys.LEAVE_GROUP,
            ApiKeys.CONSUMER_GROUP_HEARTBEAT,
            ApiKeys.OFFSET_COMMIT,
            ApiKeys.OFFSET_FETCH);
    private static final Set<ApiKeys> OTHERS = EnumSet.of(
            ApiKeys.API_VERSIONS, ApiKeys.METADATA, ApiKeys.FIND_COORDINATOR, ApiKeys.LIST_OFFSETS, ApiKeys.FETCH);

    private final Coordinator coordinator;
    private final LifeTurns turns;
    private final Set<String> idle;
    private final long latencyMs;
    private final Runnable looks;
    private final BiConsumer<String, String> called;

    /** `idle` topics have no records; `looks` is called when the group may have changed, `called` with clients' names and their ids. */
    LifeBroker(
            Coordinator coordinator,
            LifeTurns turns,
            Set<String> idle,
            long latencyMs,
            Runnable looks,
            BiConsumer<String, String> called) {
        this.called = called;
        this.coordinator = coordinator;
        this.turns = turns;
        this.idle = idle;
        this.latencyMs = latencyMs;
        this.looks = looks;
    }

    @Override
    public void ask(ByteBuffer request, Consumer<LifeConsumer.Answer> answered) {
        RequestHeader header = RequestHeader.parse(request);
        ApiKeys api = header.apiKey();
        short version = header.apiVersion();
        AbstractRequest asked = AbstractRequest.parseRequest(api, version, new ByteBufferAccessor(request)).request;
        coordinator.advanceTo(turns.nowMs());
        long latency = OF_GROUP.contains(api) ? latencyMs : NEAR_MS;
        reply(api, asked.data(), new Request(version, header.clientId())).thenAccept(said -> answered.accept(
                new LifeConsumer.Answer(
                        RequestUtils.serialize(
                                header.toResponseHeader().data(), header.toResponseHeader().headerVersion(), said, version),
                        latency)));
        // What is set for no time at all is due now.
        coordinator.advanceTo(turns.nowMs());
        looks.run();
    }

    private CompletableFuture<? extends ApiMessage> reply(ApiKeys api, ApiMessage asked, Request from) {
        return switch (api) {
            case JOIN_GROUP -> coordinator.service
                .joinGroup(from, (JoinGroupRequestData) asked, BufferSupplier.NO_CACHING)
                .whenComplete((said, error) -> called.accept(from.clientId(), said.memberId()));
            case SYNC_GROUP -> coordinator.service.syncGroup(from, (SyncGroupRequestData) asked, BufferSupplier.NO_CACHING);
            case HEARTBEAT -> coordinator.service.heartbeat(from, (HeartbeatRequestData) asked);
            case LEAVE_GROUP -> coordinator.service.leaveGroup(from, (LeaveGroupRequestData) asked);
            case CONSUMER_GROUP_HEARTBEAT -> {
                ConsumerGroupHeartbeatRequestData beat = (ConsumerGroupHeartbeatRequestData) asked;
                called.accept(from.clientId(), beat.memberId());
                yield coordinator.service.consumerGroupHeartbeat(from, beat);
            }
            case OFFSET_COMMIT -> commit(from, (OffsetCommitRequestData) asked);
            case OFFSET_FETCH -> committed(from, (OffsetFetchRequestData) asked);
            case API_VERSIONS -> CompletableFuture.completedFuture(versions());
            case METADATA -> CompletableFuture.completedFuture(metadata((MetadataRequestData) asked));
            case FIND_COORDINATOR -> CompletableFuture.completedFuture(coordinators((FindCoordinatorRequestData) asked));
            case LIST_OFFSETS -> CompletableFuture.completedFuture(offsets((ListOffsetsRequestData) asked));
            case FETCH -> fetch((FetchRequestData) asked);
            default -> throw new IllegalStateException("nobody asks for " + api);
        };
    }

    private static ApiVersionsResponseData versions() {
        ApiVersionsResponseData said = new ApiVersionsResponseData();
        for (Set<ApiKeys> those : List.of(OF_GROUP, OTHERS)) {
            those.forEach(api -> said.apiKeys().add(new ApiVersionsResponseData.ApiVersion()
                    .setApiKey(api.id)
                    .setMinVersion(api.oldestVersion())
                    .setMaxVersion(api.latestVersion())));
        }
        return said;
    }

    private MetadataResponseData metadata(MetadataRequestData asked) {
        MetadataResponseData said =
                new MetadataResponseData().setClusterId("cluster").setControllerId(NODE);
        said.brokers().add(new MetadataResponseData.MetadataResponseBroker()
                .setNodeId(NODE)
                .setHost(HOST)
                .setPort(PORT));
        if (asked.topics() != null) {
            asked.topics().forEach(topic -> said.topics().add(topic(topic)));
        }
        return said;
    }

    private MetadataResponseData.MetadataResponseTopic topic(MetadataRequestData.MetadataRequestTopic asked) {
        String name = asked.name() == null ? coordinator.topics.name(asked.topicId()) : asked.name();
        int count = name == null ? 0 : coordinator.topics.count(name);
        MetadataResponseData.MetadataResponseTopic topic = new MetadataResponseData.MetadataResponseTopic()
                .setName(name)
                .setTopicId(count == 0 ? asked.topicId() : coordinator.topics.id(name))
                .setErrorCode((count == 0 ? Errors.UNKNOWN_TOPIC_OR_PARTITION : Errors.NONE).code());
        for (int partition = 0; partition < count; partition++) {
            topic.partitions().add(new MetadataResponseData.MetadataResponsePartition()
                    .setPartitionIndex(partition)
                    .setLeaderId(NODE)
                    .setReplicaNodes(List.of(NODE))
                    .setIsrNodes(List.of(NODE)));
        }
        return topic;
    }

    private static FindCoordinatorResponseData coordinators(FindCoordinatorRequestData asked) {
        FindCoordinatorResponseData said = new FindCoordinatorResponseData();
        asked.coordinatorKeys().forEach(key -> said.coordinators().add(new FindCoordinatorResponseData.Coordinator()
                .setKey(key)
                .setNodeId(NODE)
                .setHost(HOST)
                .setPort(PORT)));
        return said;
    }

    private CompletableFuture<? extends ApiMessage> commit(Request from, OffsetCommitRequestData asked) {
        asked.topics().forEach(topic -> {
            // As the broker's API does before it asks the coordinator.
            if (!topic.topicId().equals(Uuid.ZERO_UUID)) {
                topic.setName(coordinator.topics.name(topic.topicId()));
            }
        });
        return coordinator.service.commitOffsets(from, asked, BufferSupplier.NO_CACHING);
    }

    private CompletableFuture<? extends ApiMessage> committed(Request from, OffsetFetchRequestData asked) {
        OffsetFetchRequestData.OffsetFetchRequestGroup group = asked.groups().get(0);
        group.topics().forEach(topic -> {
            if (!topic.topicId().equals(Uuid.ZERO_UUID)) {
                topic.setName(coordinator.topics.name(topic.topicId()));
            }
        });
        return coordinator.service
                .fetchOffsets(from, group, asked.requireStable())
                .thenApply(said -> new OffsetFetchResponseData().setGroups(List.of(said)));
    }

    private static ListOffsetsResponseData offsets(ListOffsetsRequestData asked) {
        List<ListOffsetsResponseData.ListOffsetsTopicResponse> topics = new ArrayList<>();
        asked.topics().forEach(topic -> {
            List<ListOffsetsResponseData.ListOffsetsPartitionResponse> partitions = new ArrayList<>();
            topic.partitions().forEach(each -> partitions.add(new ListOffsetsResponseData.ListOffsetsPartitionResponse()
                    .setPartitionIndex(each.partitionIndex())
                    .setOffset(0)));
            topics.add(new ListOffsetsResponseData.ListOffsetsTopicResponse()
                    .setName(topic.name())
                    .setPartitions(partitions));
        });
        return new ListOffsetsResponseData().setTopics(topics);
    }

    /** Each partition has one more record at each fetch; where all that are asked for have none, it waits as a broker does. */
    private CompletableFuture<? extends ApiMessage> fetch(FetchRequestData asked) {
        List<FetchResponseData.FetchableTopicResponse> topics = new ArrayList<>();
        boolean hasRecords = false;
        for (FetchRequestData.FetchTopic topic : asked.topics()) {
            String name = topic.topicId().equals(Uuid.ZERO_UUID) ? topic.topic() : coordinator.topics.name(topic.topicId());
            List<FetchResponseData.PartitionData> partitions = new ArrayList<>();
            for (FetchRequestData.FetchPartition each : topic.partitions()) {
                boolean isThere = each.partition() < coordinator.topics.count(name);
                boolean isRead = isThere && !idle.contains(name);
                hasRecords |= isRead || !isThere;
                partitions.add(new FetchResponseData.PartitionData()
                        .setPartitionIndex(each.partition())
                        .setErrorCode((isThere ? Errors.NONE : Errors.UNKNOWN_TOPIC_ID).code())
                        .setHighWatermark(isThere ? each.fetchOffset() + 1 : -1)
                        .setLogStartOffset(0)
                        .setRecords(isRead
                                ? MemoryRecords.withRecords(each.fetchOffset(), Compression.NONE, new SimpleRecord(VALUE))
                                : MemoryRecords.EMPTY));
            }
            topics.add(new FetchResponseData.FetchableTopicResponse()
                    .setTopic(topic.topic())
                    .setTopicId(topic.topicId())
                    .setPartitions(partitions));
        }
        FetchResponseData said = new FetchResponseData().setResponses(topics);
        if (hasRecords) {
            return CompletableFuture.completedFuture(said);
        }
        CompletableFuture<FetchResponseData> later = new CompletableFuture<>();
        turns.at(turns.nowMs() + asked.maxWaitMs(), () -> later.complete(said));
        return later;
    }
}
