// A latch whose waiting is that of `LifeTurns`; the client's latches are made of this class.
package partwright;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** As `CountDownLatch`. */
public final class LifeLatch extends CountDownLatch {
    /** So many have to come. */
    public LifeLatch(int count) {
        super(count);
    }

    @Override
    public void countDown() {
        super.countDown();
        LifeTurns.signalAll(this);
    }

    @Override
    public void await() {
        await(LifeTurns.NEVER, TimeUnit.MILLISECONDS);
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) {
        long untilMs = LifeTurns.after(unit.toMillis(timeout));
        while (getCount() > 0) {
            if (!LifeTurns.waitFor(this, untilMs) && getCount() > 0) {
                return false;
            }
        }
        return true;
    }
}
