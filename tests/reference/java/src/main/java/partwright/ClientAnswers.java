// Answers questions about keys with Kafka's own classes: "<hex key or null> <n>" in, one partition a profile out.
package partwright;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import org.apache.kafka.common.utils.internals.LogContext;

/**
 * The program that each client has one of, here for Java's two profiles.
 *
 * <p>The first line out is the provenance in JSON, the second the names of the profiles; after them comes one line for
 * each line in, in order. A dash stands where a profile has no answer.
 */
public final class ClientAnswers {
    private static final int BUFFER = 1 << 16;
    private static final String NONE = "-";

    /** A decoder, unlike a String's constructor, refuses what is no text. */
    private final CharsetDecoder utf8 = StandardCharsets.UTF_8.newDecoder();

    private final Map<Integer, Cluster> clusters = new HashMap<>();
    private final Method chosen;

    private ClientAnswers() throws ReflectiveOperationException {
        // What the record accumulator calls for a record that the producer gave no partition.
        chosen = BuiltInPartitioner.class.getDeclaredMethod("peekCurrentPartitionInfo", Cluster.class);
        chosen.setAccessible(true);
    }

    /** Reads standard input to its end. */
    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        ClientAnswers client = new ClientAnswers();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII), BUFFER);
        // No autoflush: the answers leave in large pieces.
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        StringBuilder answers = new StringBuilder(2 * BUFFER);
        answers.append("{\"library\": \"kafka-clients\", \"version\": \"" + AppInfoParser.getVersion()
                + "\", \"functions\": {\"java\": \"BuiltInPartitioner.partitionForKey\", "
                + "\"java:string-hash\": \"Math.abs(key.hashCode()) % n\"}}\njava java:string-hash\n");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int space = line.indexOf(' ');
            String written = line.substring(0, space);
            byte[] key = written.equals("null") ? null : HexFormat.of().parseHex(written);
            int n = Integer.parseInt(line.substring(space + 1));
            answers.append(client.java(key, n)).append(' ').append(client.stringHash(key, n)).append('\n');
            if (answers.length() >= BUFFER) {
                out.append(answers);
                answers.setLength(0);
            }
        }
        out.append(answers);
        out.flush();
    }

    private int java(byte[] key, int n) throws ReflectiveOperationException {
        if (key != null) {
            return BuiltInPartitioner.partitionForKey(key, n);
        }
        // A new one each time: the same one would stay with its first choice until a batch is full.
        BuiltInPartitioner partitioner = new BuiltInPartitioner(new LogContext(), HashingVectors.TOPIC, 1, false, "");
        Cluster cluster = clusters.computeIfAbsent(n, HashingVectors::cluster);
        return ((BuiltInPartitioner.StickyPartitionInfo) chosen.invoke(partitioner, cluster)).partition();
    }

    /** What applications write themselves. Math.abs of the least int is that int, so that some answers are negative. */
    private String stringHash(byte[] key, int n) {
        if (key == null) {
            return NONE;
        }
        try {
            String text = utf8.decode(ByteBuffer.wrap(key)).toString();
            return Integer.toString(Math.abs(text.hashCode()) % n);
        } catch (CharacterCodingException notText) {
            return NONE;
        }
    }
}
