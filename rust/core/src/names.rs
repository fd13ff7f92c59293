//! Names that a user types: found as they are written, or refused beside those that there are.

/// The one of `known` that was most likely meant: the same but for its prefix (`long` for `java:long`) or for its case,
/// or a slip of a few letters away.
pub(crate) fn nearest(given: &str, known: &[&'static str]) -> Option<&'static str> {
    let given = given.to_lowercase();
    let slips = |name: &str| {
        let bare = name.rsplit(':').next().unwrap_or(name);
        distance(&given, name).min(distance(&given, bare))
    };
    let allowed = 1.max(given.chars().count() / 3);
    known.iter().copied().filter(|name| slips(name) <= allowed).min_by_key(|name| slips(name))
}

/// How many letters must be put in, left out or replaced to make one text of another (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (place, other) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_another_name() {
        let known = ["utf8", "java:int", "java:long", "java:string", "confluent:strip-id"];
        let cases = [
            ("java:lnog", Some("java:long")),
            ("JAVA:LONG", Some("java:long")),
            ("long", Some("java:long")),
            ("java.int", Some("java:int")),
            ("utf-8", Some("utf8")),
            ("strip_id", Some("confluent:strip-id")),
            ("avro", None),
            ("", None),
        ];
        for (given, meant) in cases {
            assert_eq!(nearest(given, &known), meant, "{given}");
        }
    }

    #[test]
    fn a_distance_is_the_fewest_changes() {
        for (from, to, changes) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2)]
        {
            assert_eq!(distance(from, to), changes, "{from} to {to}");
        }
    }
}
