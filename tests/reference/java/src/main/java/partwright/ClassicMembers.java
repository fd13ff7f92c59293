// The members of a script of the classic protocol: their names, and the ids that a coordinator gives them.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A name stands for the id that was made for it last, from the moment in which it is made. */
final class ClassicMembers {
    /** An id that no coordinator gives. */
    private static final String NOBODY = "nobody";

    private final List<Map.Entry<String, String>> generated = new ArrayList<>();
    private final Map<String, String> ids = new HashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, Integer> generations = new HashMap<>();

    private String asking;
    private String prefix;

    /** Who asks for an id now, and what it will begin with: others may be told of it before the request is through. */
    void asks(String name, String prefix) {
        this.asking = name;
        this.prefix = prefix;
    }

    /** The coordinator has made an id for whoever has this name. */
    void generated(String name, String id) {
        if (names.containsKey(id)) {
            return;
        }
        generated.add(Map.entry(name, id));
        ids.put(name, id);
        names.put(id, name);
    }

    /** Each name with its id, in the order in which ids were made. */
    List<Map.Entry<String, String>> generated() {
        return generated;
    }

    /** A member was told of its group's generation. */
    void told(String name, int generation) {
        generations.put(name, generation);
    }

    /** The id of a name; null is the empty id. */
    String id(JsonNode name) {
        return name.isNull() ? "" : id(name.asText());
    }

    /** The id of a name. */
    String id(String name) {
        return ids.getOrDefault(name, NOBODY);
    }

    /** The name of an id; an id that was never made stands for itself. */
    String name(String id) {
        if (id != null && !id.isEmpty() && !id.equals(NOBODY) && !names.containsKey(id)) {
            if (asking != null && id.startsWith(prefix + "-")) {
                generated(asking, id);
                return asking;
            }
            throw new IllegalStateException("nobody has been given the id " + id);
        }
        return names.getOrDefault(id, id);
    }

    /** What a request says, or else what its member was told last. */
    int generation(JsonNode request) {
        return request.hasNonNull("generation")
                ? request.get("generation").asInt()
                : generations.getOrDefault(request.get("member").asText(), -1);
    }
}
