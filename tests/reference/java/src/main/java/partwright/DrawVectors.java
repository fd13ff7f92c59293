// Writes the draws of Java's SplittableRandom: the numbers that a seed of ours stands for.
package partwright;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.StringJoiner;

/** The first numbers of each seed. */
public final class DrawVectors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int DRAWS = 12;
    private static final long[] SEEDS = {
        0, 1, -1, 2, 7, 42, 2013, 1L << 31, -(1L << 31), 1L << 32, 0x9e3779b97f4a7c15L, Long.MAX_VALUE, Long.MIN_VALUE
    };

    private DrawVectors() {}

    /** Writes the file that is the one argument. */
    public static void main(String[] args) throws IOException {
        StringJoiner lines = new StringJoiner(",\n", "[\n", "\n]\n");
        for (long seed : SEEDS) {
            SplittableRandom random = new SplittableRandom(seed);
            ObjectNode line = JSON.createObjectNode().put("seed", seed);
            ArrayNode draws = line.putArray("draws");
            for (int drawn = 0; drawn < DRAWS; drawn++) {
                draws.add(random.nextInt());
            }
            lines.add(JSON.writeValueAsString(line));
        }
        Files.writeString(Path.of(args[0]), lines.toString(), StandardCharsets.US_ASCII);
    }
}
