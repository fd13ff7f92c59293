// The cases of cases.json as byte arrays: the same bytes, row by row, that the other layers make.
package partwright.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.UUID;

/** One case's keys. */
final class Keys {
    static final JsonNode LAB = lab();

    private static final byte[] ALPHABET =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_".getBytes(StandardCharsets.US_ASCII);
    private static final String SEED_NAME = "PARTWRIGHT_BENCH_SEED";
    private static final int TAIL_BYTES = 6;

    final JsonNode about;
    private final long seed;

    private Keys(JsonNode about) {
        this.about = about;
        this.seed = about.get("seed").asLong() ^ runSeed();
    }

    /** The case of a name. */
    static Keys of(String name) {
        for (JsonNode about : LAB.get("cases")) {
            if (about.get("name").asText().equals(name)) {
                return new Keys(about);
            }
        }
        throw new IllegalArgumentException("cases.json has no case " + name);
    }

    /** What a run mixes into each case's seed: 0, with which the checksums hold, where nobody says another. */
    static long runSeed() {
        String said = System.getenv(SEED_NAME);
        if (said == null) {
            return 0;
        }
        try {
            return Long.parseUnsignedLong(said);
        } catch (NumberFormatException wrong) {
            throw new IllegalArgumentException(
                    SEED_NAME + " is '" + said + "': say a whole number from 0 to 2^64 - 1.", wrong);
        }
    }

    static Iterator<String> names() {
        return LAB.get("cases").valueStream().map(about -> about.get("name").asText()).iterator();
    }

    /** The first rows, null where the case says so. */
    byte[][] rows(int count) {
        byte[][] rows = new byte[count][];
        for (int row = 0; row < count; row++) {
            rows[row] = row(row);
        }
        return rows;
    }

    /** Fails where the partitions of the first rows give another sum than in any layer; they have it with seed 0 alone. */
    long checked(int[] partitions) {
        long sum = 0;
        for (int row = 0; row < LAB.get("checked_rows").asInt(); row++) {
            sum += Math.max(partitions[row], 0);
        }
        if (runSeed() == 0 && sum != about.get("checksum").asLong()) {
            throw new IllegalStateException(about.get("name").asText() + ": the partitions' sum is " + sum
                    + ", and cases.json says " + about.get("checksum"));
        }
        return sum;
    }

    private byte[] row(long row) {
        long choice = word(row, 0);
        switch (about.get("kind").asText()) {
            case "text":
                if ((choice & 0xffff_ffffL) % 1000 < about.get("null_per_mille").asLong()) {
                    return null;
                }
                long shortest = about.get("shortest").asLong();
                long span = about.get("longest").asLong() - shortest + 1;
                return text(row, (int) (shortest + (choice >>> 32) % span));
            case "uuid":
                ByteBuffer raw = ByteBuffer.wrap(bytes(row, 16));
                return new UUID(raw.getLong(), raw.getLong()).toString().getBytes(StandardCharsets.US_ASCII);
            case "tails":
                byte[] tail = text((choice >>> 32) % about.get("values").asLong(), TAIL_BYTES);
                tail[0] = 'N';
                return tail;
            case "long":
                return ByteBuffer.allocate(Long.BYTES).putLong(word(row, 1)).array();
            default:
                throw new IllegalStateException("no such kind of case: " + about);
        }
    }

    private byte[] text(long row, int length) {
        byte[] text = bytes(row, length);
        for (int at = 0; at < length; at++) {
            text[at] = ALPHABET[text[at] & 63];
        }
        return text;
    }

    private byte[] bytes(long row, int length) {
        int words = (length + Long.BYTES - 1) / Long.BYTES;
        ByteBuffer bytes = ByteBuffer.allocate(words * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int place = 1; place <= words; place++) {
            bytes.putLong(word(row, place));
        }
        return Arrays.copyOf(bytes.array(), length);
    }

    /** SplitMix64 by position, as `word` of the Rust bench. */
    private long word(long row, long place) {
        long word = seed + (row * 16 + place + 1) * 0x9e3779b97f4a7c15L;
        word = (word ^ (word >>> 30)) * 0xbf58476d1ce4e5b9L;
        word = (word ^ (word >>> 27)) * 0x94d049bb133111ebL;
        return word ^ (word >>> 31);
    }

    private static JsonNode lab() {
        try (InputStream cases = Keys.class.getResourceAsStream("/cases.json")) {
            return new ObjectMapper().readTree(cases);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
