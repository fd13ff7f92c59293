// Kafka's own hash and partitioner over the keys of each case: a loop that writes a column of ints, as ours does.
package partwright.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.AppInfoParser;
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

/**
 * Keys lie in a `byte[][]`, each row after the other in memory, which is the JVM's best form. A null key has no partition, so its row is skipped. The array of results is there before, and is returned,
 * so that no row can be left out. An operation is all rows.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
// The JVM's best form: the parallel collector leaves the keys where they were made, one after another, while the default
// one scatters them; and memory that is touched before has its pages side by side. Without either a million rows take
// longer by half and more.
@Fork(value = 1, jvmArgsAppend = {"-XX:+UseParallelGC", "-XX:+AlwaysPreTouch", "-Xms4g", "-Xmx4g", "-Xmn3g"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Threads(1)
public class HashingBenchmark {
    private static final int NONE = -1;

    @Param({"bytes_12", "uuid_36", "mixed_7_20", "mixed_4_64_nulls", "tail_numbers", "long"})
    public String name;

    @Param("1000000")
    public int rows;

    private int n;
    private byte[][] keys;
    private int[] found;

    /** Prints what each case's partitions add up to, so that the layers can be compared: seed, versions, sums. */
    public static void main(String[] args) throws IOException {
        ObjectMapper json = new ObjectMapper();
        ObjectNode said = json.createObjectNode();
        said.put("seed", Long.toUnsignedString(Keys.runSeed()));
        said.put("java", System.getProperty("java.version") + " (" + System.getProperty("java.vm.name") + ")");
        said.put("kafka-clients", AppInfoParser.getVersion());
        ObjectNode sums = said.putObject("sums");
        for (Iterator<String> names = Keys.names(); names.hasNext();) {
            HashingBenchmark bench = new HashingBenchmark();
            bench.name = names.next();
            bench.rows = Keys.LAB.get("checked_rows").asInt();
            sums.put(bench.name, bench.makeKeys());
        }
        System.out.println(json.writeValueAsString(said));
    }

    /** Makes the keys, and fails where what is measured gives other partitions than it should. */
    @Setup(Level.Trial)
    public void setup() {
        makeKeys();
    }

    private long makeKeys() {
        Keys made = Keys.of(name);
        n = Keys.LAB.get("n").asInt();
        keys = made.rows(rows);
        found = new int[rows];
        return made.checked(partitionForKey());
    }

    /** Every record's partition. */
    @Benchmark
    public int[] partitionForKey() {
        for (int row = 0; row < keys.length; row++) {
            found[row] = keys[row] == null ? NONE : BuiltInPartitioner.partitionForKey(keys[row], n);
        }
        return found;
    }

    /** The hash alone. */
    @Benchmark
    public int[] murmur2() {
        for (int row = 0; row < keys.length; row++) {
            found[row] = keys[row] == null ? NONE : Utils.murmur2(keys[row]);
        }
        return found;
    }
}
