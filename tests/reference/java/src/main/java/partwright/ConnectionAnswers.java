// Answers questions about client configurations: which settings there are, what a file says, what a JAAS text says.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.StringReader;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

/**
 * A question has one of: `names`, all settings of the three clients; `properties`, a file's text; `jaas`, the value of
 * `sasl.jaas.config`; `client`, the settings of an admin client, which is made and reaches nobody.
 */
public final class ConnectionAnswers {
    private ConnectionAnswers() {}

    /** Reads standard input to its end. */
    public static void main(String[] args) throws Exception {
        Answers.all((question, answer) -> {
            if (question.has("names")) {
                TreeSet<String> names = new TreeSet<>(AdminClientConfig.configNames());
                names.addAll(ConsumerConfig.configNames());
                names.addAll(ProducerConfig.configNames());
                ArrayNode list = answer.putArray("names");
                names.forEach(list::add);
            } else if (question.has("properties")) {
                Properties read = new Properties();
                read.load(new StringReader(question.get("properties").asText()));
                ObjectNode found = answer.putObject("settings");
                new TreeMap<>(read).forEach((key, value) -> found.put((String) key, (String) value));
            } else if (question.has("jaas")) {
                jaas(question.get("jaas").asText(), answer);
            } else {
                Properties settings = new Properties();
                for (Map.Entry<String, JsonNode> each : question.get("client").properties()) {
                    settings.put(each.getKey(), each.getValue().asText());
                }
                Admin.create(settings).close();
                answer.put("made", true);
            }
        }, AdminClientConfig.class);
    }

    private static void jaas(String text, ObjectNode answer) {
        Map<String, Password> configs = Map.of("sasl.jaas.config", new Password(text));
        AppConfigurationEntry entry = JaasContext.loadClientContext(configs).configurationEntries().get(0);
        answer.put("module", entry.getLoginModuleName());
        ObjectNode options = answer.putObject("options");
        new TreeMap<>(entry.getOptions()).forEach((key, value) -> options.put(key, (String) value));
    }
}
