// A future whose waiting is that of `LifeTurns`; the client's futures are made of this class.
package partwright;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What follows from one is one, too. */
public final class LifeFuture<T> extends CompletableFuture<T> {
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new LifeFuture<>();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        await(LifeTurns.NEVER);
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        if (!await(LifeTurns.after(unit.toMillis(timeout)))) {
            throw new TimeoutException();
        }
        return super.get();
    }

    @Override
    public T join() {
        await(LifeTurns.NEVER);
        return super.join();
    }

    private boolean await(long untilMs) {
        if (!isDone()) {
            whenComplete((value, error) -> LifeTurns.signalAll(this));
        }
        while (!isDone()) {
            if (!LifeTurns.waitFor(this, untilMs) && !isDone()) {
                return false;
            }
        }
        return true;
    }
}
