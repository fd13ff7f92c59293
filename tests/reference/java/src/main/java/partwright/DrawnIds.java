// Makes `UUID.randomUUID`, from which a coordinator makes member IDs, repeat itself on every run, and records its answers.
package partwright;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/** The first of Java's security providers: every `new SecureRandom()` draws from one seeded generator. */
public final class DrawnIds extends Provider {
    private static final long serialVersionUID = 1;
    private static final int UUID_BYTES = 16;
    private static final List<String> DRAWN = new ArrayList<>();
    private static SplittableRandom random = new SplittableRandom(0);

    private DrawnIds() {
        super("partwright", "1", "random numbers that are no secret");
        putService(new Service(this, "SecureRandom", "Seeded", Seeded.class.getName(), null, null));
    }

    /** Before anything draws. */
    static void install() {
        Security.insertProviderAt(new DrawnIds(), 1);
    }

    /** Begins again. */
    static void seed(long seed) {
        random = new SplittableRandom(seed);
        DRAWN.clear();
    }

    /** The ids that were drawn since they were last asked for. */
    static List<String> drawn() {
        List<String> since = List.copyOf(DRAWN);
        DRAWN.clear();
        return since;
    }

    /** Java makes it by its name. */
    public static final class Seeded extends SecureRandomSpi {
        private static final long serialVersionUID = 1;

        /** Has no state. */
        public Seeded() {}

        @Override
        protected void engineSetSeed(byte[] seed) {
            // The caller cannot choose.
        }

        @Override
        protected void engineNextBytes(byte[] bytes) {
            random.nextBytes(bytes);
            if (bytes.length == UUID_BYTES) {
                DRAWN.add(uuid(bytes).toString());
            }
        }

        @Override
        protected byte[] engineGenerateSeed(int count) {
            byte[] seed = new byte[count];
            random.nextBytes(seed);
            return seed;
        }

        /** As `UUID.randomUUID` makes it: version 4, variant 2. */
        private static UUID uuid(byte[] bytes) {
            long[] halves = new long[2];
            for (int place = 0; place < UUID_BYTES; place++) {
                halves[place / Long.BYTES] = halves[place / Long.BYTES] << Byte.SIZE | bytes[place] & 0xFF;
            }
            return new UUID(halves[0] & ~0xF000L | 0x4000L, halves[1] & ~(3L << 62) | 1L << 63);
        }
    }
}
