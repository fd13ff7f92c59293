"""PySpark writes to Kafka: each key where a Java producer puts it, each partition in order, by one shuffle.

pip install 'partwright[spark,kafka]'       (and Java 17)
python examples/spark_to_kafka.py
"""

from pyspark.sql import functions as sf

from partwright import spark as pws
from partwright.kafka import EmbeddedKafka, topics

with EmbeddedKafka() as kafka:
    topics.create_topic(kafka.bootstrap_servers, "flights", 12)
    # Any session will do; this one brings Spark's Kafka connector along.
    spark = pws.session(master="local[2]", kafka=True, log_file="spark.log")
    flights = spark.createDataFrame(
        [(1, "N14228", 1545), (2, "N24211", 1714), (3, "N14228", 725), (4, "N619AA", 1141)],
        "ts int, tailnum string, flight int",
    )
    # Task i holds what belongs into partition i, sorted by `ts`.
    laid_out = flights.transform(pws.kafka_layout(key="tailnum", n=12, order_by="ts"))
    records = laid_out.select(
        sf.col("tailnum").alias("key"), sf.to_json(sf.struct("flight")).alias("value"), "partition"
    )
    options = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
    # Spark's sink writes to the partition that the column `partition` names.
    records.write.format("kafka").options(**options, topic="flights").save()

    written = spark.read.format("kafka").options(**options, subscribe="flights").load()
    found = pws.check(written, key="key", n=12, partition="partition")
    print(f"{found.rows} records, {found.misplaced} of them not where Java's producer puts them")
    assert (found.rows, found.misplaced) == (4, 0)
    spark.stop()
