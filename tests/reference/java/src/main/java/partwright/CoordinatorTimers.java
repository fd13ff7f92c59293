// The timers of a coordinator on one thread: they run when the clock is moved past them.
package partwright;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

/** In order of their deadlines, and those of one deadline in the order in which they were set. */
final class CoordinatorTimers implements Timer {
    private record Set(TimerTaskEntry entry, long number) {}

    /** How many may fire at one instant before it is taken for one that sets itself again for ever. */
    private static final int MOST_AT_ONCE = 100_000;

    private final PriorityQueue<Set> timers = new PriorityQueue<>(
            Comparator.comparingLong((Set set) -> set.entry.expirationMs).thenComparingLong(Set::number));
    private final BatchClock clock;
    private long count;

    CoordinatorTimers(BatchClock clock) {
        this.clock = clock;
    }

    @Override
    public void add(TimerTask task) {
        timers.add(new Set(new TimerTaskEntry(task, clock.milliseconds() + task.delayMs), count++));
    }

    /** When the next one is due, or `Long.MAX_VALUE`. */
    long nextMs() {
        while (!timers.isEmpty() && timers.peek().entry.cancelled()) {
            timers.remove();
        }
        return timers.isEmpty() ? Long.MAX_VALUE : timers.peek().entry.expirationMs;
    }

    /** Goes on to an instant; each timer that is due by then sees its own deadline on the clock. */
    void advanceTo(long instantMs) {
        long before = -1;
        int atOnce = 0;
        for (Set next = timers.peek(); next != null && next.entry.expirationMs <= instantMs; next = timers.peek()) {
            timers.remove();
            if (!next.entry.cancelled()) {
                clock.set(Math.max(clock.milliseconds(), next.entry.expirationMs));
                atOnce = clock.milliseconds() == before ? atOnce + 1 : 0;
                before = clock.milliseconds();
                if (atOnce > MOST_AT_ONCE) {
                    throw new IllegalStateException("timers set themselves again and again at " + before + " ms");
                }
                next.entry.timerTask.run();
            }
        }
        clock.set(instantMs);
    }

    @Override
    public boolean advanceClock(long timeoutMs) {
        throw new IllegalStateException("nobody waits for a timer");
    }

    @Override
    public int size() {
        return (int) timers.stream().filter(set -> !set.entry.cancelled()).count();
    }

    @Override
    public void close() {
        timers.clear();
    }
}
