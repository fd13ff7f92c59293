// The broker's own assignors with the parameters of Kafka's ServerSideAssignorBenchmark.
package partwright.bench;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** Without racks, which these assignors do not look at. INCREMENTAL is one that joins the group of one fewer. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = {"-Xms4g", "-Xmx4g"})
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Threads(1)
public class ServerAssignorBenchmark {
    @Param({"100", "500", "1000", "5000", "10000"})
    public int memberCount;

    @Param({"5", "10", "50"})
    public int partitionsToMemberRatio;

    @Param({"10", "100", "1000"})
    public int topicCount;

    @Param({"HOMOGENEOUS", "HETEROGENEOUS"})
    public String subscriptionType;

    @Param({"RANGE", "UNIFORM"})
    public String assignorType;

    @Param({"FULL", "INCREMENTAL"})
    public String assignmentType;

    private ServerGroup group;

    /** Makes the group, grown where it grows. */
    @Setup(Level.Trial)
    public void setup() {
        boolean joins = assignmentType.equals("INCREMENTAL");
        group = new ServerGroup(
                assignorType.toLowerCase(Locale.ROOT),
                subscriptionType.equals("HOMOGENEOUS") ? ServerGroup.Shape.EQUAL : ServerGroup.Shape.DISJOINT,
                joins,
                joins ? memberCount - 1 : memberCount,
                topicCount,
                memberCount * partitionsToMemberRatio / topicCount);
    }

    /** One assignment. */
    @Benchmark
    public GroupAssignment assign() {
        return group.assign();
    }
}
