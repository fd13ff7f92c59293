"""DuckDB: which records of an exported topic are not where the Java producer puts them, and who wrote these?

pip install 'partwright[duckdb]'
python examples/duckdb_sql.py
"""

import duckdb

import partwright.duckdb

con = duckdb.connect()
partwright.duckdb.register(con)

# Your export would be FROM 'orders.parquet', say. Here librdkafka wrote every tenth record of the topic.
con.sql("""
    CREATE TABLE orders AS
    SELECT 'order-' || i AS key,
           partition_for_key(key, 12, CASE WHEN i % 10 = 0 THEN 'librdkafka' ELSE 'java' END) AS partition
    FROM range(10000) AS numbers (i)
""")

misplaced, by_librdkafka = con.sql("""
    SELECT count(*), count(*) FILTER (partition = partition_for_key(key, 12, 'librdkafka'))
    FROM orders WHERE partition <> partition_for_key(key, 12)
""").fetchall()[0]
print(
    f"{misplaced} of 10,000 records are not where Java's producer puts them; librdkafka explains {by_librdkafka}"
)
