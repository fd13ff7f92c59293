"""One partitioner of your own in five places: `pw.Producer`, kafka-python, confluent-kafka, Spark and `partwright run`.

pip install 'partwright[spark,kafka]' kafka-python       (and Java 17)
cd examples && python business_partitioner.py
"""

import subprocess
import sys
from pathlib import Path

from by_tenant import ByTenant
from confluent_kafka import Producer
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

import partwright as pw
from partwright import spark as pws
from partwright.kafka import ConfluentPartitioner, EmbeddedKafka, KafkaPythonPartitioner, topics

KEYS = [f"tenant-{n % 5}:order-{n}" for n in range(20)]
# Before anything runs: the partitions of a topic of 12.
WANTED = dict(zip(KEYS, pw.Producer({"orders": 12}, ByTenant).place({"key": KEYS}).to_pylist(), strict=True))


def written_to(servers, topic):
    """By key, in which partition Kafka has it."""
    consumer = KafkaConsumer(
        bootstrap_servers=servers, consumer_timeout_ms=3000, auto_offset_reset="earliest"
    )
    consumer.assign([TopicPartition(topic, partition) for partition in range(12)])
    found = {record.key.decode(): record.partition for record in consumer}
    consumer.close()
    return found


with EmbeddedKafka() as kafka:
    servers = kafka.bootstrap_servers
    for topic in ("by-kafka-python", "by-confluent", "by-spark"):
        topics.create_topic(servers, topic, 12)

    producer = KafkaProducer(
        bootstrap_servers=servers, partitioner=KafkaPythonPartitioner(strategy=ByTenant())
    )
    for key in KEYS:
        producer.send("by-kafka-python", key=key.encode(), value=b"{}")
    producer.close()

    producer = Producer({"bootstrap.servers": servers})
    place = ConfluentPartitioner(producer, strategy=ByTenant())
    for key in KEYS:
        producer.produce(
            "by-confluent", b"{}", key.encode(), partition=place("by-confluent", key.encode(), b"{}")
        )
    producer.flush()
    # librdkafka would go on looking for the Kafka that ends here.
    del producer, place

    spark = pws.session(master="local[2]", kafka=True, log_file="spark.log")
    orders = spark.createDataFrame([(key, "{}") for key in KEYS], "key string, value string")
    placed = pws.with_partition(orders, "key", 12, pws.ProducerConfig("by_tenant:ByTenant"))
    placed.write.format("kafka").options(**{"kafka.bootstrap.servers": servers, "topic": "by-spark"}).save()
    spark.stop()

    Path("orders.csv").write_text("\n".join(["key", *KEYS, ""]), encoding="utf-8")
    command = [sys.executable, "-m", "partwright", "run", "orders.csv", "--key", "key", "--topic", "by-run"]
    command += ["-n", "12", "--strategy", "by_tenant.ByTenant", "--to", f"kafka://{servers}"]
    subprocess.run(command, check=True)

    for topic in ("by-kafka-python", "by-confluent", "by-spark", "by-run"):
        assert written_to(servers, topic) == WANTED, topic
        print(f"{topic}: all {len(KEYS)} orders are where ByTenant wants them")
