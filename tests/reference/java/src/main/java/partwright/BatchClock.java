// The time of a scenario: it stands still until it is told to move.
package partwright;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** What the accumulator reads the time from. */
public final class BatchClock implements Time {
    private long nowMs;

    /** Goes on to an instant. */
    public void set(long instantMs) {
        nowMs = instantMs;
    }

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowMs * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        throw new IllegalStateException("nothing sleeps");
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new IllegalStateException("nothing waits");
    }
}
