// Writes which assignor Kafka's own coordinator takes from the lists of a group's members.
package partwright;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocolCollection;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;

/**
 * A case a line: `members` with the lists that they bring, and what `ClassicGroup.selectProtocol` says, `selected`, or
 * null where the group refuses the last member, which has nothing in common with the others. In half of the cases all
 * bring all names, so that votes are often equal.
 */
public final class VoteVectors {
    private static final List<String> NAMES = List.of("range", "roundrobin", "sticky", "cooperative-sticky");
    private static final long SEED = 848;
    private static final int CASES = 250;
    private static final int MOST_MEMBERS = 20;
    private static final int TIMEOUT_MS = 10_000;
    private static final String PROTOCOL_TYPE = "consumer";

    private VoteVectors() {}

    /** Writes the file that is its one argument. */
    public static void main(String[] args) throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        ObjectMapper json = new ObjectMapper();
        try (Writer out = Files.newBufferedWriter(Path.of(args[0]), StandardCharsets.US_ASCII)) {
            for (int number = 0; number < CASES; number++) {
                out.append(number == 0 ? "[\n" : ",\n").append(json.writeValueAsString(vote(random, json)));
            }
            out.append("\n]\n");
        }
    }

    private static ObjectNode vote(SplittableRandom random, ObjectMapper json) {
        ClassicGroup group = new ClassicGroup(new LogContext(), "group", ClassicGroupState.EMPTY, Time.SYSTEM);
        ObjectNode vote = json.createObjectNode();
        ObjectNode members = vote.putObject("members");
        int shortest = random.nextBoolean() ? NAMES.size() : 1 + random.nextInt(NAMES.size());
        int count = 1 + random.nextInt(MOST_MEMBERS);
        for (int number = 0; number < count; number++) {
            String id = "c" + number;
            List<String> names = shuffled(random).subList(0, shortest + random.nextInt(NAMES.size() - shortest + 1));
            names.forEach(members.withArray(id)::add);
            // The coordinator's check before it lets a member in.
            if (!group.supportsProtocols(PROTOCOL_TYPE, Set.copyOf(names))) {
                return vote.putNull("selected");
            }
            add(group, id, names);
            if (number == 0) {
                group.transitionTo(ClassicGroupState.PREPARING_REBALANCE);
            }
        }
        return vote.put("selected", group.selectProtocol());
    }

    private static void add(ClassicGroup group, String id, List<String> names) {
        JoinGroupRequestProtocolCollection protocols = new JoinGroupRequestProtocolCollection();
        names.forEach(name -> protocols.add(new JoinGroupRequestProtocol().setName(name).setMetadata(new byte[0])));
        group.add(new ClassicGroupMember(
                id, Optional.empty(), "client", "127.0.0.1", TIMEOUT_MS, TIMEOUT_MS, PROTOCOL_TYPE, protocols));
    }

    private static List<String> shuffled(SplittableRandom random) {
        List<String> names = new ArrayList<>(NAMES);
        for (int last = names.size() - 1; last > 0; last--) {
            names.add(names.remove(random.nextInt(last + 1)));
        }
        return names;
    }
}
