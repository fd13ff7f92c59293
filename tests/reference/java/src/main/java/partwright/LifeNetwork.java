// The network of one consumer: what its real `NetworkClient` sends goes to the brokers of a play as bytes, and comes back after a while.
package partwright;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.network.ChannelState;
import org.apache.kafka.common.network.NetworkReceive;
import org.apache.kafka.common.network.NetworkSend;
import org.apache.kafka.common.network.Selectable;
import org.apache.kafka.common.network.TransferableChannel;

/**
 * As a broker does, it takes a connection's requests one after the other: the next when the one before is answered. As Kafka's selector
 * does, it hands on one response of a connection a poll.
 */
final class LifeNetwork implements Selectable {
    /** How many polls at one instant are none of a loop that waits for the clock, and how long a turn of such a loop takes. */
    private static final int MOST_POLLS = 20;
    private static final long SPIN_MS = 1;

    /** A connection. */
    private static final class Connection {
        private final Deque<ByteBuffer> asked = new ArrayDeque<>();
        private final Deque<ByteBuffer> arrived = new ArrayDeque<>();
        private boolean isAsking;
    }

    private final Map<String, Connection> connections = new LinkedHashMap<>();
    private final Set<String> fresh = new HashSet<>();
    private final LifeTurns turns;
    private final LifeConsumer.Broker broker;
    private final BooleanSupplier yields;
    private final List<NetworkSend> sent = new ArrayList<>();
    private List<NetworkSend> completedSends = List.of();
    private List<NetworkReceive> completedReceives = List.of();
    private List<String> connected = List.of();
    private boolean isWoken;
    private boolean isGone;
    private long polledMs;
    private int polls;

    /** Where `yields` says so, whoever wakes the thread that polls lets it go first. */
    LifeNetwork(LifeTurns turns, LifeConsumer.Broker broker, BooleanSupplier yields) {
        this.turns = turns;
        this.broker = broker;
        this.yields = yields;
    }

    /** Nothing arrives any more. */
    void crash() {
        isGone = true;
    }

    @Override
    public void connect(String id, InetSocketAddress address, int sendBuffer, int receiveBuffer) {
        connections.put(id, new Connection());
        fresh.add(id);
    }

    @Override
    public void wakeup() {
        isWoken = true;
        LifeTurns.signalAll(this);
        if (yields.getAsBoolean()) {
            LifeTurns.yield();
        }
    }

    @Override
    public void close() {
        connections.clear();
    }

    @Override
    public void close(String id) {
        connections.remove(id);
    }

    @Override
    public void send(NetworkSend send) {
        Written written = new Written((int) send.size());
        try {
            while (!send.completed()) {
                send.writeTo(written);
            }
        } catch (java.io.IOException failed) {
            throw new IllegalStateException(failed);
        }
        sent.add(send);
        // The size stands before it.
        ByteBuffer request = written.bytes.flip().position(Integer.BYTES).slice();
        Connection connection = connections.get(send.destinationId());
        connection.asked.add(request);
        askNext(connection);
    }

    private void askNext(Connection connection) {
        ByteBuffer request = connection.isAsking ? null : connection.asked.poll();
        if (request == null) {
            return;
        }
        connection.isAsking = true;
        broker.ask(request, answer -> {
            turns.at(turns.nowMs() + answer.latencyMs(), () -> arrive(connection, answer.bytes()));
            connection.isAsking = false;
            askNext(connection);
        });
    }

    private void arrive(Connection connection, ByteBuffer response) {
        if (!isGone) {
            connection.arrived.add(response);
            LifeTurns.signalAll(this);
        }
    }

    @Override
    public void poll(long timeoutMs) {
        completedSends = List.copyOf(sent);
        sent.clear();
        connected = List.copyOf(fresh);
        fresh.clear();
        boolean hasSome = !completedSends.isEmpty() || !connected.isEmpty();
        long untilMs = LifeTurns.after(spins() ? Math.max(timeoutMs, SPIN_MS) : timeoutMs);
        while (!hasSome && !isWoken && hasNothing() && turns.nowMs() < untilMs) {
            LifeTurns.waitFor(this, untilMs);
        }
        isWoken = false;
        completedReceives = new ArrayList<>();
        connections.forEach((id, connection) -> {
            ByteBuffer response = connection.arrived.poll();
            if (response != null) {
                completedReceives.add(new NetworkReceive(id, response));
            }
        });
    }

    /** Whether it has been polled over and over at this instant, which on a real clock takes time. */
    private boolean spins() {
        polls = turns.nowMs() == polledMs ? polls + 1 : 0;
        polledMs = turns.nowMs();
        return polls > MOST_POLLS;
    }

    private boolean hasNothing() {
        return connections.values().stream().allMatch(connection -> connection.arrived.isEmpty());
    }

    @Override
    public List<NetworkSend> completedSends() {
        return completedSends;
    }

    @Override
    public Collection<NetworkReceive> completedReceives() {
        return completedReceives;
    }

    @Override
    public Map<String, ChannelState> disconnected() {
        return new HashMap<>();
    }

    @Override
    public List<String> connected() {
        return connected;
    }

    @Override
    public void mute(String id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void unmute(String id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void muteAll() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void unmuteAll() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isChannelReady(String id) {
        return connections.containsKey(id);
    }

    /** Where a request is written. */
    private static final class Written implements TransferableChannel {
        private final ByteBuffer bytes;

        Written(int size) {
            bytes = ByteBuffer.allocate(size);
        }

        @Override
        public int write(ByteBuffer from) {
            int size = from.remaining();
            bytes.put(from);
            return size;
        }

        @Override
        public long write(ByteBuffer[] from, int offset, int length) {
            long size = 0;
            for (int place = offset; place < offset + length; place++) {
                size += write(from[place]);
            }
            return size;
        }

        @Override
        public long write(ByteBuffer[] from) {
            return write(from, 0, from.length);
        }

        @Override
        public boolean hasPendingWrites() {
            return false;
        }

        @Override
        public long transferFrom(FileChannel file, long position, long count) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // There is nothing to close.
        }
    }
}
