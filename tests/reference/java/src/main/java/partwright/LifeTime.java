// The time of a life, as the client asks for it.
package partwright;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * A thread that asks for it over and over waits for another one, or for time to pass: it lets
 * the others go first, and where there is nobody it takes a millisecond.
 */
final class LifeTime implements Time {
    private static final int MANY = 50;
    private static final int VERY_MANY = 500;
    private static final long SPIN_MS = 1;

    /** Any: no request has the client's time in it. */
    private static final long BEGIN_MS = 1_000_000_000_000L;

    private final LifeTurns turns;

    LifeTime(LifeTurns turns) {
        this.turns = turns;
    }

    @Override
    public long milliseconds() {
        int asked = turns.asked();
        if (asked > VERY_MANY) {
            sleep(SPIN_MS);
        } else if (asked % MANY == 0) {
            LifeTurns.yield();
        }
        return BEGIN_MS + turns.nowMs();
    }

    @Override
    public long nanoseconds() {
        return milliseconds() * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        LifeTurns.waitFor(new Object(), LifeTurns.after(ms));
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException();
    }
}
