// Writes tests/golden/strategies/metadata_order.json: the order in which a producer sees the partitions of its topics.
package partwright;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import org.apache.kafka.common.utils.internals.LogContext;

/** {@link MetadataOrders} of today's Kafka, whose `MetadataSnapshot` has the order. */
public final class MetadataOrderVectors {
    private MetadataOrderVectors() {}

    /** The one argument is the file to write. */
    public static void main(String[] args) throws IOException {
        MetadataOrders.write(Path.of(args[0]), MetadataOrderVectors.class, AppInfoParser.getVersion(), () ->
                new Metadata(100, 1000, 300_000, new LogContext(), new ClusterResourceListeners()));
    }
}
