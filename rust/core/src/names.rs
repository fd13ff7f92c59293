//! Names that a user types, found as they are written or refused with a list of the known names; and counts in a sentence.

use std::fmt::Display;

use strsim::osa_distance;

/// An enum whose variants have names.
macro_rules! named {
    ($(#[$about:meta])* pub enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        pub enum $type {
            $($(#[$doc])* $variant,)+
        }

        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The one with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

pub(crate) use named;

/// A hint lists at most this many names.
const HINTS: usize = 4;

/// The names in `known` that were most likely meant. They differ only in the part before or after the colon (`long` for
/// `java:long`, `kafka-go` for four names), in upper and lower case, or by a few mistyped letters.
pub(crate) fn nearest(name_given: &str, known: &[&'static str]) -> Vec<&'static str> {
    let name_given = name_given.to_lowercase();
    let slips = |name: &str| {
        let parts = name.split(':').map(|part| osa_distance(&name_given, part));
        parts.chain([osa_distance(&name_given, name)]).min().unwrap_or(usize::MAX)
    };
    let allowed = 1.max(name_given.chars().count() / 3);
    let fewest = known.iter().map(|name| slips(name)).min().filter(|fewest| *fewest <= allowed);
    let mut nearest: Vec<_> = known.iter().copied().filter(|name| Some(slips(name)) == fewest).collect();
    let whole = |name: &str| Some(osa_distance(&name_given, name)) == fewest;
    if nearest.iter().any(|name| whole(name)) {
        nearest.retain(|name| whole(name));
    }
    if nearest.len() <= HINTS { nearest } else { Vec::new() }
}

/// Names joined for the end of a question: `a, b or c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        names => names.join(""),
    }
}

/// A count with its noun, and a verb if there is one: `1 row is`, `2 rows are`.
#[must_use]
pub fn counted(count: impl Display, one: &str, several: &str) -> String {
    let count = count.to_string();
    let noun = if count == "1" { one } else { several };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        let counts = [0, 1, 2, -1].map(|rows| counted(rows, "row is", "rows are"));
        assert_eq!(counts, ["0 rows are", "1 row is", "2 rows are", "-1 rows are"]);
    }

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
        for (name_given, meant) in cases {
            assert_eq!(listed(&nearest(name_given, &known)), meant, "{name_given}");
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
}
