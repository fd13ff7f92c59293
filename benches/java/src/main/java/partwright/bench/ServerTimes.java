// Times the broker's own assignors, turn by turn with a rival: a group's numbers in, then each empty line is a turn.
package partwright.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A line `assignor shape event members topics partitions`, such as `uniform equal joins 10000 1000 500`, has the
 * checksum of the answer for an answer; each empty line after it the nanoseconds of one more `assign` of a group that
 * is there already. `rust/server_assignors.rs` talks in the same way.
 */
public final class ServerTimes {
    private ServerTimes() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ServerGroup group = null;
        // What a turn makes is kept until the next one, so that no compiler can leave it out.
        Object made = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isEmpty()) {
                long began = System.nanoTime();
                made = group.assign();
                System.out.println(System.nanoTime() - began);
            } else {
                made = null;
                group = group(line.split(" "));
                System.out.println(Long.toUnsignedString(group.checksum()));
            }
        }
        if (made == null) {
            System.err.println("ServerTimes: nobody took a turn");
        }
    }

    private static ServerGroup group(String[] said) {
        return new ServerGroup(
                said[0],
                ServerGroup.Shape.valueOf(said[1].replace('-', '_').toUpperCase(Locale.ROOT)),
                said[2].equals("joins"),
                Integer.parseInt(said[3]),
                Integer.parseInt(said[4]),
                Integer.parseInt(said[5]));
    }
}
