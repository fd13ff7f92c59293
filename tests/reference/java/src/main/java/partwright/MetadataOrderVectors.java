// Writes tests/golden/strategies/metadata_order.json: the order in which a producer sees the partitions of its topics.
package partwright;

import java.io.IOException;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.utils.internals.AppInfoParser;
import org.apache.kafka.common.utils.internals.LogContext;

/** {@link MetadataOrders} of today's Kafka, whose `MetadataSnapshot` has the order. */
public final class MetadataOrderVectors {
    private MetadataOrderVectors() {}

    /** The arguments are the file to write and, for other cases, a seed. */
    public static void main(String[] args) throws IOException {
        MetadataOrders.write(args, MetadataOrderVectors.class, AppInfoParser.getVersion(), () ->
                new Metadata(100, 1000, 300_000, new LogContext(), new ClusterResourceListeners()));
    }
}
