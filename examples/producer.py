"""A producer in Python that puts each key where a Java producer puts it.

librdkafka, the library in confluent-kafka, hashes keys with CRC32 unless it is told otherwise; Java hashes them with
murmur2. So the same key lies in another partition, and a join of the two topics finds nothing.

    pip install 'partwright[kafka]'       (and Java 17, for the Kafka that this program starts)
    python examples/producer.py
"""

from confluent_kafka import Producer

import partwright as pw
from partwright.kafka import ConfluentPartitioner, EmbeddedKafka, topics

CUSTOMERS = ["TT0124", "N14228", "N24211", "N619AA"]

# A real Kafka for as long as this block runs. With yours, use its address and leave out the `with`.
with EmbeddedKafka() as kafka:
    topics.create_topic(kafka.bootstrap_servers, "orders", 15)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    place = ConfluentPartitioner(producer, "java")

    def delivered(error, message):
        """Kafka's own answer says where the record is."""
        assert error is None, error
        print(f"{message.key().decode()} is in partition {message.partition()}")
        assert message.partition() == pw.partition_for_key(message.key(), 15)

    for customer in CUSTOMERS:
        key = customer.encode()
        producer.produce(
            "orders", key=key, value=b"{}", partition=place("orders", key), on_delivery=delivered
        )
    producer.flush()
    # librdkafka would go on looking for the Kafka that ends here.
    del producer, place

# Without ConfluentPartitioner librdkafka would have chosen these:
for customer in CUSTOMERS:
    print(f"{customer} by librdkafka's default: {pw.partition_for_key(customer, 15, 'librdkafka')}")
