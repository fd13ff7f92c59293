// Writes tests/golden/strategies/metadata_order-2.8.json: the same order in Kafka 2.8.
package partwright.v2_8;

import java.io.IOException;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.LogContext;
import partwright.MetadataOrders;

/** {@link MetadataOrders} of Kafka 2.8, whose `MetadataCache` has the order. */
public final class MetadataOrderVectors {
    private MetadataOrderVectors() {}

    /** The arguments are the file to write and, for other cases, a seed. */
    public static void main(String[] args) throws IOException {
        MetadataOrders.write(args, MetadataOrderVectors.class, AppInfoParser.getVersion(), () ->
                new Metadata(100, 300_000, new LogContext(), new ClusterResourceListeners()));
    }
}
