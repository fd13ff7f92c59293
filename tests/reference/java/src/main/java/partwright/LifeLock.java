// A lock whose waiting is that of `LifeTurns`; the client's locks are made of this class.
package partwright;

import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What the client does not call is refused, so that nothing waits elsewhere. */
public final class LifeLock extends ReentrantLock {
    private static final long serialVersionUID = 1;

    /** As `ReentrantLock`. */
    public LifeLock() {}

    /** Who waits first is first: each is fair. */
    public LifeLock(boolean fair) {
        super(fair);
    }

    @Override
    public void lock() {
        LifeMonitors.enter(this);
    }

    @Override
    public void unlock() {
        LifeMonitors.exit(this);
    }

    @Override
    public boolean tryLock() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void lockInterruptibly() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Condition newCondition() {
        return new Signalled();
    }

    private final class Signalled implements Condition {
        @Override
        public void await() {
            LifeMonitors.await(LifeLock.this, this, LifeTurns.NEVER);
        }

        @Override
        public boolean await(long time, TimeUnit unit) {
            return LifeMonitors.await(LifeLock.this, this, LifeTurns.after(unit.toMillis(time)));
        }

        @Override
        public void awaitUninterruptibly() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long awaitNanos(long timeoutNs) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean awaitUntil(Date deadline) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void signal() {
            LifeTurns.signal(this);
        }

        @Override
        public void signalAll() {
            LifeTurns.signalAll(this);
        }
    }
}
