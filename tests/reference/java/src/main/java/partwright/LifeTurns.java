// Lets one thread of many run at a time, and moves a clock of ours when all of them wait: threads in the same order on every run.
package partwright;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Whoever waits, waits here: `LifeLoader` makes the client's monitors, locks, futures, waits and threads call this. A thread runs
 * until it has to wait; then the next one that is ready does, first come, first served; and where none is, the clock goes on to what
 * is due next.
 */
public final class LifeTurns {
    /** For ever. */
    public static final long NEVER = Long.MAX_VALUE;

    /** How many turns there may be at one instant before it is taken for a life without an end. */
    private static final int MOST_AT_ONCE = 200_000;

    private static LifeTurns now;

    /** What has deadlines of its own. */
    interface Timers {
        /** The next deadline, on the play's clock. */
        long nextMs();

        /** Goes on to an instant, with all that is due by then. */
        void advanceTo(long instantMs);
    }

    /** What is thrown in a thread whose consumer has crashed. */
    public static final class Crashed extends Error {
        private static final long serialVersionUID = 1;

        Crashed() {
            super("crashed", null, false, false);
        }
    }

    /** A thread. */
    static final class Turn {
        private final Semaphore gate = new Semaphore(0);
        private final Runnable looks;
        private Object awaited;
        private int wait;
        private boolean isSignalled;
        private boolean hasCrashed;
        private boolean hasEnded;
        private long askedMs;
        private int asked;

        private Turn(Runnable looks) {
            this.looks = looks;
        }
    }

    private record Due(long atMs, long number, Runnable what) {}

    private final PriorityQueue<Due> dues =
            new PriorityQueue<>(Comparator.comparingLong(Due::atMs).thenComparingLong(Due::number));
    private final Deque<Turn> ready = new ArrayDeque<>();
    private final Map<Object, Deque<Turn>> waiting = new IdentityHashMap<>();
    private final Map<Object, LifeMonitors.Owned> owned = new IdentityHashMap<>();
    private final Map<Thread, Turn> threads = new IdentityHashMap<>();
    private final SplittableRandom random = new SplittableRandom(0);
    private final Turn main = new Turn(() -> {});
    private final Timers timers;
    private long untilMs;
    private Throwable failed;
    private Turn current = main;
    private long nowMs;
    private long count;
    private int atOnce;

    LifeTurns(Timers timers) {
        this.timers = timers;
    }

    /** What the clock says. */
    public long nowMs() {
        return nowMs;
    }

    /** How often the thread that runs has asked for the time at this instant. */
    public int asked() {
        current.asked = current.askedMs == nowMs ? current.asked + 1 : 1;
        current.askedMs = nowMs;
        return current.asked;
    }

    /** Something happens at an instant; what is due at one instant does in the order in which it was set. */
    public void at(long instantMs, Runnable what) {
        dues.add(new Due(Math.max(instantMs, nowMs), count++, what));
    }

    /** Plays up to an instant, on the thread that calls, and ends all threads then. */
    void play(long untilMs, Runnable atEnd) {
        now = this;
        this.untilMs = untilMs;
        pass();
        this.untilMs = -1;
        atEnd.run();
        crash(List.copyOf(threads.keySet()));
        while (!threads.isEmpty() && failed == null) {
            pass();
        }
        if (failed != null) {
            throw new IllegalStateException(failed);
        }
    }

    /** Registers a thread that is about to start; `looks` is called whenever it has run. */
    public void register(Thread thread, Runnable looks) {
        Turn turn = new Turn(looks);
        threads.put(thread, turn);
        ready.add(turn);
    }

    /** Ends threads at once, wherever they are. */
    public void crash(Collection<Thread> crashing) {
        for (Thread thread : crashing) {
            Turn turn = threads.get(thread);
            if (turn != null) {
                turn.hasCrashed = true;
                wake(turn);
            }
        }
    }

    /** The thread that runs waits for a signal, or until an instant; whether the signal came. */
    public static boolean waitFor(Object what, long untilMs) {
        return now.waits(what, untilMs);
    }

    /** Whether anybody waits for something. */
    static boolean isAwaited(Object what) {
        return now.waiting.containsKey(what);
    }

    /** Whose turn it is. */
    static Turn current() {
        return now.current;
    }

    /** The monitors and locks that somebody has or waits for. */
    static Map<Object, LifeMonitors.Owned> owned() {
        return now.owned;
    }

    /** Wakes the first that waits for something. */
    public static void signal(Object what) {
        Deque<Turn> those = now.waiting.get(what);
        if (those != null) {
            Turn first = those.peek();
            first.isSignalled = true;
            now.wake(first);
        }
    }

    /** Wakes all that wait for something. */
    public static void signalAll(Object what) {
        while (now.waiting.containsKey(what)) {
            signal(what);
        }
    }

    /** Lets all others that are ready go first. */
    public static void yield() {
        if (!now.ready.isEmpty()) {
            now.ready.add(now.current);
            now.switchFrom(now.current);
        }
    }

    /** An instant so many milliseconds from now. */
    public static long after(long ms) {
        return ms > NEVER - now.nowMs ? NEVER : now.nowMs + ms;
    }

    private boolean waits(Object what, long untilMs) {
        Turn turn = current;
        if (turn.hasCrashed) {
            throw new Crashed();
        }
        turn.isSignalled = false;
        turn.awaited = what;
        waiting.computeIfAbsent(what, any -> new ArrayDeque<>()).add(turn);
        int wait = ++turn.wait;
        if (untilMs != NEVER) {
            at(untilMs, () -> {
                if (turn.wait == wait && turn.awaited != null) {
                    wake(turn);
                }
            });
        }
        switchFrom(turn);
        return turn.isSignalled;
    }

    private void wake(Turn turn) {
        if (turn.awaited != null) {
            Deque<Turn> those = waiting.get(turn.awaited);
            those.remove(turn);
            if (those.isEmpty()) {
                waiting.remove(turn.awaited);
            }
            turn.awaited = null;
            ready.add(turn);
        }
    }

    private void switchFrom(Turn turn) {
        turn.looks.run();
        pass();
        if (current != turn) {
            throw new IllegalStateException("a thread runs out of turn");
        }
        if (turn.hasCrashed) {
            throw new Crashed();
        }
    }

    /** Gives the turn to the next thread; returns when the one that called has it again, or has ended. */
    private void pass() {
        Turn from = current;
        Turn to = main;
        try {
            to = failed == null ? next() : main;
        } catch (RuntimeException | Error thrown) {
            failed = thrown;
        }
        current = to;
        if (to != from) {
            to.gate.release();
            if (!from.hasEnded) {
                from.gate.acquireUninterruptibly();
            }
        }
    }

    private Turn next() {
        while (true) {
            Turn turn = ready.poll();
            if (turn != null) {
                if (++atOnce > MOST_AT_ONCE) {
                    throw new IllegalStateException("no end of turns at " + nowMs + " ms");
                }
                return turn;
            }
            Due due = dues.peek();
            long timerMs = timers.nextMs();
            long atMs = Math.min(timerMs, due == null ? NEVER : due.atMs);
            if (atMs > untilMs) {
                return main;
            }
            if (atMs > nowMs) {
                nowMs = atMs;
                atOnce = 0;
            }
            if (timerMs <= atMs) {
                timers.advanceTo(atMs);
            } else {
                dues.remove();
                due.what.run();
            }
        }
    }

    /** Called by `LifeLoader`'s threads: the first thing that one does. */
    public static void begin(Thread thread) {
        now.threads.get(thread).gate.acquireUninterruptibly();
    }

    /** And the last. */
    public static void end(Thread thread) {
        LifeTurns turns = now;
        Turn turn = turns.threads.get(thread);
        turn.looks.run();
        turn.hasEnded = true;
        turns.threads.remove(thread);
        signalAll(thread);
        turns.pass();
    }

    /** In place of a thread's handler: what nobody catches ends the play. */
    public static void fail(Throwable thrown) {
        now.failed = now.failed == null ? thrown : now.failed;
    }

    /** In place of `ThreadLocalRandom.nextDouble`: backoffs have a random part. */
    public static double between(ThreadLocalRandom other, double origin, double bound) {
        return now.random.nextDouble(origin, bound);
    }

    /** In place of `Thread.start`: a thread of a consumer's. */
    public static void start(Thread thread) {
        now.register(thread, now.current.looks);
        thread.setDaemon(true);
        thread.start();
    }

    /** In place of `Thread.join`. */
    public static void join(Thread thread) {
        while (now.threads.containsKey(thread)) {
            waitFor(thread, NEVER);
        }
    }
}
