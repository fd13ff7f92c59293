// Answers questions about the names of topics, of their logs' directories and of the files in them.
package partwright;

import java.io.File;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.storage.internals.log.LocalLog;
import org.apache.kafka.storage.internals.log.LogFileUtils;

/**
 * A question has one of: `topic`, is it a name, and does it collide with `other`; `topic` and `partition`, what is its
 * directory called, and how long is the name that it has while it is `deleted` or moved; `directory`, whose is it;
 * `offset`, what are a segment's files called; `file`, which offset does it begin with.
 */
public final class StorageAnswers {
    private static final File FOLDER = new File("logs");

    private StorageAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Answers.all((question, answer) -> {
            if (question.has("directory")) {
                TopicPartition found = LocalLog.parseTopicPartitionName(new File(FOLDER, question.get("directory").asText()));
                answer.put("topic", found.topic()).put("partition", found.partition());
            } else if (question.has("offset")) {
                long offset = question.get("offset").asLong();
                answer.put("log", LogFileUtils.logFile(FOLDER, offset).getName());
                answer.put("index", LogFileUtils.offsetIndexFile(FOLDER, offset).getName());
                answer.put("timeindex", LogFileUtils.timeIndexFile(FOLDER, offset).getName());
                answer.put("txnindex", LogFileUtils.transactionIndexFile(FOLDER, offset).getName());
                answer.put("snapshot", LogFileUtils.producerSnapshotFile(FOLDER, offset).getName());
            } else if (question.has("file")) {
                answer.put("offset", LogFileUtils.offsetFromFileName(question.get("file").asText()));
            } else if (question.has("partition")) {
                TopicPartition one = new TopicPartition(question.get("topic").asText(), question.get("partition").asInt());
                answer.put("directory", LocalLog.logDirName(one));
                answer.put("deleted", withoutId(LocalLog.logDeleteDirName(one)));
                answer.put("stray", withoutId(LocalLog.logStrayDirName(one)));
                answer.put("future", withoutId(LocalLog.logFutureDirName(one)));
            } else {
                String topic = question.get("topic").asText();
                answer.put("valid", Topic.isValid(topic)).put("internal", Topic.isInternal(topic));
                answer.put("collides", Topic.hasCollision(topic, question.get("other").asText()));
            }
        }, LocalLog.class, Topic.class);
    }

    /** The id is drawn anew for each name. */
    private static String withoutId(String name) {
        return name.replaceFirst("\\.[0-9a-f]{32}-", ".ID-");
    }
}
