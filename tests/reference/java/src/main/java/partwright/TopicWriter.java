// Sends records with Kafka's Java client: a line for each, "<hex key or null>".
package partwright;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends records with Kafka's Java client: host:port and a topic as arguments, and where more settings are needed a
 * properties file; a line for each, a key in hex or the word null, on stdin.
 */
public final class TopicWriter {
    private TopicWriter() {}

    public static void main(String[] arguments) throws IOException, InterruptedException, ExecutionException {
        var settings = new Properties();
        if (arguments.length > 2) {
            try (var file = Files.newBufferedReader(Path.of(arguments[2]))) {
                settings.load(file);
            }
        }
        settings.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        var bytes = new ByteArraySerializer();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (var producer = new KafkaProducer<byte[], byte[]>(settings, bytes, bytes)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                byte[] key = line.equals("null") ? null : HexFormat.of().parseHex(line);
                sent.add(producer.send(new ProducerRecord<>(arguments[1], key, new byte[] {'v'})));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
    }
}
