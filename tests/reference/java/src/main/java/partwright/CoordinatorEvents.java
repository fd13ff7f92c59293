// Runs a coordinator's events, and its background tasks, on the thread that brings them.
package partwright;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEvent;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEventProcessor;

/** What an event brings about runs after it, as on the one thread that a group has in a broker. */
final class CoordinatorEvents implements CoordinatorEventProcessor {
    private final Deque<CoordinatorEvent> queue = new ArrayDeque<>();
    private boolean runs;

    @Override
    public void enqueueLast(CoordinatorEvent event) {
        queue.addLast(event);
        run();
    }

    @Override
    public void enqueueFirst(CoordinatorEvent event) {
        queue.addFirst(event);
        run();
    }

    @Override
    public void close() {
        queue.clear();
    }

    private void run() {
        if (runs) {
            return;
        }
        runs = true;
        try {
            for (CoordinatorEvent next = queue.pollFirst(); next != null; next = queue.pollFirst()) {
                try {
                    next.run();
                } catch (RuntimeException failed) {
                    // As a broker's threads do.
                    next.complete(failed);
                }
            }
        } finally {
            runs = false;
        }
    }

    /** A task is done at once; what becomes of it is an event of its own. */
    static final class Background extends AbstractExecutorService {
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void shutdown() {
            // There is no thread.
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }
}
