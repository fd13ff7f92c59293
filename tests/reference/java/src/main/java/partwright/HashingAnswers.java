// Answers questions about keys with Kafka's own classes: "<base64 key> <n>" in, "<murmur2> <partition>" out.
package partwright;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.utils.Utils;

/**
 * The other half of a differential run: the caller makes up the keys, this prints Kafka's answers.
 *
 * <p>Lines, not JSON, so that a million of them cost a second or two. An empty key is an empty first field.
 */
public final class HashingAnswers {
    private static final int BUFFER = 1 << 16;

    private HashingAnswers() {}

    /** Reads standard input to its end; one line out for each line in, in order. */
    public static void main(String[] args) throws IOException {
        Base64.Decoder base64 = Base64.getDecoder();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII), BUFFER);
        StringBuilder answers = new StringBuilder(2 * BUFFER);
        // No autoflush: the answers leave in large pieces.
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int space = line.lastIndexOf(' ');
            byte[] key = base64.decode(line.substring(0, space));
            int n = Integer.parseInt(line.substring(space + 1));
            answers.append(Utils.murmur2(key))
                    .append(' ')
                    .append(BuiltInPartitioner.partitionForKey(key, n))
                    .append('\n');
            if (answers.length() >= BUFFER) {
                out.append(answers);
                answers.setLength(0);
            }
        }
        out.append(answers);
        out.flush();
    }
}
