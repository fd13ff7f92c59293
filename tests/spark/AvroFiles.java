// Writes and reads Parquet files with parquet-avro: `write FILE`, or `read FILE`, which prints a record a line.

import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.avro.AvroParquetReader;
import org.apache.parquet.avro.AvroParquetWriter;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.hadoop.util.HadoopOutputFile;

public class AvroFiles {
    private static final Schema ORDER =
            SchemaBuilder.record("Order").fields().requiredLong("id").optionalString("customer").endRecord();

    public static void main(String[] args) throws Exception {
        Path path = new Path(args[1]);
        if (args[0].equals("write")) {
            write(path);
        } else {
            read(path);
        }
    }

    private static void write(Path path) throws Exception {
        var file = HadoopOutputFile.fromPath(path, new Configuration());
        try (var writer = AvroParquetWriter.<GenericRecord>builder(file).withSchema(ORDER).build()) {
            for (long id = 0; id < 5; id++) {
                GenericRecord record = new GenericData.Record(ORDER);
                record.put("id", id);
                record.put("customer", id == 3 ? null : "c" + id);
                writer.write(record);
            }
        }
    }

    private static void read(Path path) throws Exception {
        var file = HadoopInputFile.fromPath(path, new Configuration());
        try (var reader = AvroParquetReader.<GenericRecord>builder(file).build()) {
            for (GenericRecord record = reader.read(); record != null; record = reader.read()) {
                System.out.println(record);
            }
        }
    }
}
