//! Names that a user types: found as they are written, or refused beside those that there are.

/// More than this many names are no hint.
const HINTS: usize = 4;

/// Those of `known` that were most likely meant: the same but for what stands before or behind the colon (`long` for
/// `java:long`, `kafka-go` for four of them) or for its case, or a slip of a few letters away.
pub(crate) fn nearest(given: &str, known: &[&'static str]) -> Vec<&'static str> {
    let given = given.to_lowercase();
    let slips = |name: &str| {
        let parts = name.split(':').map(|part| distance(&given, part));
        parts.chain([distance(&given, name)]).min().unwrap_or(usize::MAX)
    };
    let allowed = 1.max(given.chars().count() / 3);
    let fewest = known.iter().map(|name| slips(name)).min().filter(|fewest| *fewest <= allowed);
    let mut nearest: Vec<_> = known.iter().copied().filter(|name| Some(slips(name)) == fewest).collect();
    let whole = |name: &str| Some(distance(&given, name)) == fewest;
    if nearest.iter().any(|name| whole(name)) {
        nearest.retain(|name| whole(name));
    }
    if nearest.len() <= HINTS { nearest } else { Vec::new() }
}

/// Names as the end of a question: `a, b or c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        names => names.join(""),
    }
}

/// How many letters must be put in, left out, replaced, or exchanged with the next one to make one text of another
/// (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before = vec![0; to.len() + 1];
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for line in 1..=from.len() {
        let mut next = vec![line; to.len() + 1];
        for place in 1..=to.len() {
            let replaced = row[place - 1] + usize::from(from[line - 1] != to[place - 1]);
            next[place] = replaced.min(row[place] + 1).min(next[place - 1] + 1);
            let exchanged =
                line > 1 && place > 1 && from[line - 1] == to[place - 2] && from[line - 2] == to[place - 1];
            if exchanged {
                next[place] = next[place].min(before[place - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_another_name() {
        let known = ["utf8", "java:int", "java:long", "java:string", "confluent:strip-id"];
        let cases = [
            ("java:lnog", "java:long"),
            ("JAVA:LONG", "java:long"),
            ("long", "java:long"),
            ("java.int", "java:int"),
            ("utf-8", "utf8"),
            ("strip_id", "confluent:strip-id"),
            ("java", "java:int, java:long or java:string"),
            ("utf", "utf8"),
            ("avro", ""),
            ("", ""),
        ];
        for (given, meant) in cases {
            assert_eq!(listed(&nearest(given, &known)), meant, "{given}");
        }
    }

    #[test]
    fn a_whole_name_is_nearer_than_a_part_of_one() {
        assert_eq!(nearest("librdkafak", &["librdkafka", "librdkafka:murmur2"]), ["librdkafka"]);
    }

    #[test]
    fn too_many_are_no_hint() {
        assert_eq!(nearest("a", &["a:1", "a:2", "a:3", "a:4", "a:5"]), Vec::<&str>::new());
    }

    #[test]
    fn a_distance_is_the_fewest_changes() {
        for (from, to, changes) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("rnage", "range", 1),
            ("ca", "abc", 3),
        ] {
            assert_eq!(distance(from, to), changes, "{from} to {to}");
        }
    }
}
