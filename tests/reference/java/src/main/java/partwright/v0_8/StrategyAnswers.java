// Answers questions about the strategy of Kafka 0.8's producer, which keeps one partition until it refreshes its metadata.
package partwright.v0_8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static partwright.Strategies.open;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import kafka.api.TopicMetadata;
import kafka.producer.DefaultPartitioner;
import kafka.producer.PartitionAndLeader;
import kafka.producer.ProducerConfig;
import kafka.producer.ProducerPool;
import kafka.producer.async.DefaultEventHandler;
import kafka.serializer.DefaultEncoder;
import kafka.utils.VerifiableProperties;
import scala.Option;
import scala.collection.JavaConverters;
import scala.collection.Seq;
import scala.util.Random$;
import partwright.Strategies;
import partwright.Strategies.Asked;

/**
 * `old-null-key`: `DefaultEventHandler.getPartition`, and `DefaultPartitioner` of keys that are text. Its `handle`, which asks the brokers for
 * metadata and sends, is not called; what it does before, where it refreshes the metadata, is done here with its own
 * fields, and the clock is the question's.
 */
public final class StrategyAnswers {
    private StrategyAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Strategies.answer("kafka_2.11", "0.8.2.2", new ScalaDraws(), Handler::new);
    }

    private static final class Handler implements Asked {
        private static final String PRIVATE = "kafka$producer$async$DefaultEventHandler$$";
        private final DefaultEventHandler<byte[], byte[]> handler;
        private final Map<String, Seq<PartitionAndLeader>> topics = new HashMap<>();
        private final Method partition;
        private final Field refreshed;
        private final int interval;
        private final scala.collection.mutable.HashMap<?, ?> cache;

        Handler(JsonNode question) throws ReflectiveOperationException {
            Properties configs = new Properties();
            configs.put("metadata.broker.list", "127.0.0.1:1");
            question.path("configs").properties().forEach(
                    config -> configs.put(config.getKey(), config.getValue().asText()));
            ProducerConfig config = new ProducerConfig(configs);
            VerifiableProperties none = new VerifiableProperties();
            handler = new DefaultEventHandler<>(config, new DefaultPartitioner(none), new DefaultEncoder(none),
                    new DefaultEncoder(none), new ProducerPool(config),
                    new scala.collection.mutable.HashMap<String, TopicMetadata>());
            question.path("topics").properties().forEach(topic -> change(topic.getKey(), topic.getValue()));
            partition = open(DefaultEventHandler.class.getDeclaredMethod(
                    PRIVATE + "getPartition", String.class, Object.class, Seq.class));
            refreshed = open(DefaultEventHandler.class.getDeclaredField("lastTopicMetadataRefreshTime"));
            interval = (Integer) kept("topicMetadataRefreshInterval");
            cache = (scala.collection.mutable.HashMap<?, ?>) kept("sendPartitionPerTopicCache");
        }

        private Object kept(String name) throws ReflectiveOperationException {
            return open(DefaultEventHandler.class.getDeclaredField(name)).get(handler);
        }

        private void change(String topic, JsonNode given) {
            List<PartitionAndLeader> partitions = new ArrayList<>();
            for (JsonNode partition : given) {
                Option<Object> leader =
                        Option.apply(partition.hasNonNull("leader") ? partition.get("leader").asInt() : null);
                partitions.add(new PartitionAndLeader(topic, partition.get("id").asInt(), leader));
            }
            topics.put(topic, sequence(partitions));
        }

        private static Seq<PartitionAndLeader> sequence(List<PartitionAndLeader> partitions) {
            return JavaConverters.asScalaBufferConverter(partitions).asScala();
        }

        @Override
        public Integer happens(JsonNode event) throws ReflectiveOperationException {
            String topic = event.get("topic").asText();
            if (event.get("op").asText().equals("cluster")) {
                change(topic, event.get("partitions"));
                return null;
            }
            long now = event.get("at_ms").asLong();
            if (interval >= 0 && now - refreshed.getLong(handler) > interval) {
                cache.clear();
                refreshed.setLong(handler, now);
            }
            Seq<PartitionAndLeader> partitions = topics.getOrDefault(topic, sequence(List.of()));
            JsonNode key = event.path("key");
            // DefaultPartitioner hashes an object: a text has the same hash in every run.
            Object text = key.isTextual() ? new String(HexFormat.of().parseHex(key.asText()), UTF_8) : null;
            return (Integer) partition.invoke(handler, topic, text, partitions);
        }
    }

    /** The numbers of Scala's one `Random`, which is one of Java's. */
    private static final class ScalaDraws implements Strategies.Source {
        private final AtomicLong state;

        ScalaDraws() throws ReflectiveOperationException {
            state = (AtomicLong) open(java.util.Random.class.getDeclaredField("seed")).get(Random$.MODULE$.self());
        }

        @Override
        public void begin(long seed) {
            Random$.MODULE$.setSeed(seed);
        }

        @Override
        public long state() {
            return state.get();
        }

        @Override
        public int next() {
            return Random$.MODULE$.nextInt();
        }
    }
}
