// Monitors and locks whose waiting is that of `LifeTurns`: what the client's own become in `LifeLoader`.
package partwright;

import java.util.Map;

/** As Java's, whoever finds one free has it, whether others wait for it or not. */
public final class LifeMonitors {
    private LifeMonitors() {}

    /** Who has a monitor or a lock, and how often. */
    static final class Owned {
        private LifeTurns.Turn owner;
        private int depth;
    }

    /** In place of a monitor's entry, and of `Lock.lock`. */
    public static void enter(Object monitor) {
        Map<Object, Owned> owned = LifeTurns.owned();
        LifeTurns.Turn turn = LifeTurns.current();
        Owned of = owned.computeIfAbsent(monitor, any -> new Owned());
        while (of.owner != null && of.owner != turn) {
            LifeTurns.waitFor(of, LifeTurns.NEVER);
            // Others may have come and gone meanwhile.
            of = owned.computeIfAbsent(monitor, any -> new Owned());
        }
        of.owner = turn;
        of.depth++;
    }

    /** In place of its exit, and of `Lock.unlock`. */
    public static void exit(Object monitor) {
        Owned of = LifeTurns.owned().get(monitor);
        // Whoever has crashed in a wait has not come back to the monitor.
        if (of != null && of.owner == LifeTurns.current() && --of.depth == 0) {
            of.owner = null;
            if (LifeTurns.isAwaited(of)) {
                LifeTurns.signal(of);
            } else {
                LifeTurns.owned().remove(monitor);
            }
        }
    }

    /** In place of `Object.wait`. */
    public static void await(Object monitor) {
        await(monitor, monitor, LifeTurns.NEVER);
    }

    /** In place of `Object.wait` with a timeout. */
    public static void await(Object monitor, long ms) {
        await(monitor, monitor, ms == 0 ? LifeTurns.NEVER : LifeTurns.after(ms));
    }

    /** Waits for a signal of something with a monitor that is let go meanwhile; whether it came. */
    static boolean await(Object monitor, Object what, long untilMs) {
        int depth = LifeTurns.owned().get(monitor).depth;
        for (int level = 0; level < depth; level++) {
            exit(monitor);
        }
        boolean isSignalled = LifeTurns.waitFor(what, untilMs);
        for (int level = 0; level < depth; level++) {
            enter(monitor);
        }
        return isSignalled;
    }

    /** In place of `Object.notify`. */
    public static void wakeOne(Object monitor) {
        LifeTurns.signal(monitor);
    }

    /** In place of `Object.notifyAll`. */
    public static void wakeAll(Object monitor) {
        LifeTurns.signalAll(monitor);
    }
}
