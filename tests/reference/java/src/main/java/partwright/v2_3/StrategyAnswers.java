// Answers questions about strategies with the default partitioner of Kafka 2.3.
package partwright.v2_3;

import org.apache.kafka.clients.producer.internals.DefaultPartitioner;
import org.apache.kafka.common.utils.AppInfoParser;
import partwright.Partitioners;
import partwright.Strategies;

/** `default@2.3`, which is told of no batches. */
public final class StrategyAnswers {
    private StrategyAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Strategies.answer("kafka-clients", AppInfoParser.getVersion(), new Strategies.ThreadDraws(), question ->
                new Partitioners(question, new DefaultPartitioner(), null));
    }
}
