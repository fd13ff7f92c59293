import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends the keys that come in to a topic, without naming a partition: the producer chooses it.
 *
 * <p>{@code java PartitionChoices.java client.properties MARK}. On its input come the topic (as
 * {@code DataInput.readUTF} reads it), then for each record the bytes of its key and of its header MARK, each after their
 * number, and -1 at the end. It says {@code ready} once it can read, {@code done} once all records are delivered, or
 * why not.
 */
final class PartitionChoices {
    public static void main(String[] arguments) throws IOException {
        var properties = new Properties();
        try (var reader = Files.newBufferedReader(Path.of(arguments[0]))) {
            properties.load(reader);
        }
        System.out.println("ready");
        var input = new DataInputStream(System.in);
        String topic;
        try {
            topic = input.readUTF();
        } catch (EOFException nobodyAsks) {
            return;
        }
        System.out.println(sent(properties, topic, arguments[1], input));
    }

    private static String sent(Properties properties, String topic, String mark, DataInputStream input)
            throws IOException {
        var refused = new AtomicReference<Exception>();
        var bytes = new ByteArraySerializer();
        try (var producer = new KafkaProducer<>(properties, bytes, bytes)) {
            for (int size = input.readInt(); size >= 0 && refused.get() == null; size = input.readInt()) {
                byte[] key = input.readNBytes(size);
                List<Header> headers = List.of(new RecordHeader(mark, input.readNBytes(input.readInt())));
                producer.send(
                        new ProducerRecord<>(topic, null, key, null, headers),
                        (metadata, error) -> refused.compareAndSet(null, error));
            }
        } catch (RuntimeException error) {
            refused.compareAndSet(null, error);
        }
        return refused.get() == null ? "done" : refused.get().toString().lines().findFirst().orElseThrow();
    }
}
