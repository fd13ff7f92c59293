// Plays one script of the classic protocol to a real coordinator: joins, syncs, heartbeats, leaves and commits.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.LeaveGroupResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupRequestData.SyncGroupRequestAssignment;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import partwright.Coordinator.Request;

/** The script's members have names; the coordinator knows them by ids, which `ClassicMembers` keeps. */
final class ClassicScript extends GroupScript {
    /** The version of JoinGroup from which on a member is asked to come again with the id that it was given. */
    private static final short ASKS_AGAIN = 4;
    /** The version from which on a leader that returns is told to skip the assignment. */
    private static final short SKIPS = 9;
    private static final String PROTOCOL_TYPE = "consumer";
    private static final BufferSupplier NO_CACHING = BufferSupplier.NO_CACHING;

    private final ClassicMembers members = new ClassicMembers();

    ClassicScript(JsonNode question) throws ReflectiveOperationException {
        super(question);
    }

    @Override
    protected void ask(int number, JsonNode request) {
        switch (request.get("request").asText()) {
            case "join" -> join(number, request);
            case "sync" -> sync(number, request);
            case "heartbeat" -> heartbeat(number, request);
            case "leave" -> leave(number, request);
            case "commit" -> commit(number, members.id(request.get("member")), members.generation(request), request);
            case "move" -> coordinator.move();
            case "wait" -> { }
            default -> throw new IllegalArgumentException("unknown request: " + request);
        }
    }

    @Override
    protected void write(ObjectNode answer) {
        ArrayNode ids = answer.putArray("ids");
        members.generated().forEach(pair -> ids.addArray().add(pair.getKey()).add(pair.getValue()));
    }

    private void join(int number, JsonNode request) {
        String name = request.get("member").asText();
        boolean asksAgain = request.get("member_id_required").asBoolean();
        boolean skips = request.path("can_skip_assignment").asBoolean(asksAgain);
        JoinGroupRequestData data = new JoinGroupRequestData()
                .setGroupId(Coordinator.GROUP)
                .setMemberId(request.get("known").asBoolean() ? members.id(request.get("member")) : "")
                .setGroupInstanceId(text(request, "instance_id"))
                .setSessionTimeoutMs(request.get("session_timeout_ms").asInt())
                .setRebalanceTimeoutMs(request.get("rebalance_timeout_ms").asInt())
                .setProtocolType(PROTOCOL_TYPE);
        request.get("protocols").forEach(protocol -> data.protocols().add(new JoinGroupRequestProtocol()
                .setName(protocol.get(0).asText())
                .setMetadata(bytes(protocol.get(1).asText()))));
        short version = skips ? SKIPS : asksAgain ? ASKS_AGAIN : ASKS_AGAIN - 1;
        // The ID that is drawn belongs to the member that asks.
        DrawnIds.drawn();
        String prefix = data.groupInstanceId() == null ? name : data.groupInstanceId();
        members.asks(name, prefix);
        var response = coordinator.service.joinGroup(new Request(version, name), data, NO_CACHING);
        DrawnIds.drawn().forEach(drawn -> members.generated(name, prefix + "-" + drawn));
        response.thenAccept(said -> {
            ObjectNode answer = answered(number, said.errorCode()).put("member", members.name(said.memberId()));
            if (said.errorCode() == Errors.NONE.code()) {
                members.told(name, said.generationId());
                joined(answer, said);
            }
        });
    }

    private void joined(ObjectNode answer, JoinGroupResponseData said) {
        answer.put("generation", said.generationId())
                .put("protocol", said.protocolName())
                .put("leader", members.name(said.leader()))
                .put("skip_assignment", said.skipAssignment());
        ArrayNode list = answer.putArray("members");
        said.members().forEach(member -> list.addArray()
                .add(members.name(member.memberId()))
                .add(member.groupInstanceId())
                .add(text(member.metadata())));
    }

    private void sync(int number, JsonNode request) {
        String protocol = text(request, "protocol");
        SyncGroupRequestData data = new SyncGroupRequestData()
                .setGroupId(Coordinator.GROUP)
                .setMemberId(members.id(request.get("member")))
                .setGenerationId(members.generation(request))
                .setGroupInstanceId(text(request, "instance_id"))
                .setProtocolType(protocol == null ? null : PROTOCOL_TYPE)
                .setProtocolName(protocol);
        List<SyncGroupRequestAssignment> assignments = new ArrayList<>();
        if (request.hasNonNull("assignments")) {
            request.get("assignments").properties().forEach(given -> assignments.add(new SyncGroupRequestAssignment()
                    .setMemberId(members.id(given.getKey()))
                    .setAssignment(bytes(given.getValue().asText()))));
        }
        data.setAssignments(assignments);
        coordinator.service
                .syncGroup(new Request(SyncGroupRequestData.HIGHEST_SUPPORTED_VERSION, ""), data, NO_CACHING)
                .thenAccept(said -> {
                    ObjectNode answer = answered(number, said.errorCode());
                    if (said.errorCode() == Errors.NONE.code()) {
                        answer.put("protocol", said.protocolName()).put("assignment", text(said.assignment()));
                    }
                });
    }

    private void heartbeat(int number, JsonNode request) {
        HeartbeatRequestData data = new HeartbeatRequestData()
                .setGroupId(Coordinator.GROUP)
                .setMemberId(members.id(request.get("member")))
                .setGenerationId(members.generation(request))
                .setGroupInstanceId(text(request, "instance_id"));
        coordinator.service
                .heartbeat(new Request(HeartbeatRequestData.HIGHEST_SUPPORTED_VERSION, ""), data)
                .thenAccept(said -> answered(number, said.errorCode()));
    }

    private void leave(int number, JsonNode request) {
        List<MemberIdentity> leaving = new ArrayList<>();
        request.get("members").forEach(member -> leaving.add(new MemberIdentity()
                .setMemberId(members.id(member.get("member")))
                .setGroupInstanceId(text(member, "instance_id"))));
        coordinator.service
                .leaveGroup(
                        new Request(LeaveGroupRequestData.HIGHEST_SUPPORTED_VERSION, ""),
                        new LeaveGroupRequestData().setGroupId(Coordinator.GROUP).setMembers(leaving))
                .thenAccept(said -> left(answered(number, said.errorCode()), said));
    }

    private static void left(ObjectNode answer, LeaveGroupResponseData said) {
        ArrayNode errors = answer.putArray("members");
        said.members().forEach(member -> errors.add(Errors.forCode(member.errorCode()).name()));
    }

    @Override
    protected void state(ObjectNode state) throws ReflectiveOperationException {
        Group found = coordinator.group();
        state.putNull("state").put("generation", 0).putNull("protocol").putNull("leader");
        ArrayNode present = state.putArray("members");
        state.put("pending", 0);
        if (found == null) {
            return;
        }
        ClassicGroup group = (ClassicGroup) found;
        state.put("state", group.stateAsString())
                .put("generation", group.generationId())
                .put("protocol", group.protocolName().orElse(null))
                .put("leader", members.name(group.leaderOrNull()))
                .put("pending", group.numPendingJoinMembers());
        group.allMembers().forEach(member -> present.add(members.name(member.memberId())));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
