//! Times the broker's assignors, turn by turn with Java's: a group's numbers in, then each empty line is a turn.
//!
//! A line `assignor shape event members topics partitions`, such as `uniform equal joins 10000 1000 500`, has the
//! checksum of the answer for an answer; each empty line after it the nanoseconds of one more assignment. The group is
//! behind the door, as Java's is in its own objects. `ServerTimes` of `benches/java` talks in the same way, and
//! `benches/python/assignors.py` with both.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::ops::Range;
use std::time::Instant;

use partwright_core::assignors::server::{self, Kind, ServerGroup};
use partwright_core::assignors::{Assignment, Input, Lists};
use partwright_core::java::uuid::TopicId;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const FIFTHS: usize = 5;

/// Which topics each member subscribes to; `ServerGroup.Shape` has the same words.
#[derive(Clone, Copy)]
enum Shape {
    Equal,
    /// The first member lacks one topic.
    OneOdd,
    /// A fifth of the members has the first fifth of the topics, the next the first two, and so on.
    Nested,
    /// As in Kafka's own benchmark: a fifth of the members has a fifth of the topics, the next the next.
    Disjoint,
}

struct Question {
    kind: Kind,
    shape: Shape,
    joins: bool,
    members: usize,
    partitions: u32,
    topic_names: Vec<String>,
    member_names: Vec<String>,
}

fn main() -> Outcome {
    let mut asked: Option<(Kind, ServerGroup)> = None;
    for line in stdin().lock().lines() {
        let line = line?;
        let said = match &asked {
            Some((kind, group)) if line.is_empty() => {
                let began = now();
                let made = server::assign(*kind, black_box(group))?;
                let nanos = began.elapsed().as_nanos();
                drop(black_box(made));
                nanos.to_string()
            }
            _ => {
                let question = Question::of(&line)?;
                let group = question.group()?;
                let sum = question.checksum(&server::assign(question.kind, &group)?)?;
                asked = Some((question.kind, group));
                sum.to_string()
            }
        };
        let mut out = stdout().lock();
        writeln!(out, "{said}")?;
        out.flush()?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a bench needs the clock that the core must not have")]
fn now() -> Instant {
    Instant::now()
}

impl Question {
    fn of(line: &str) -> Outcome<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [assignor, shape, event, members, topics, partitions] = words[..] else {
            return Err(
                format!("'{line}' is no group: say assignor shape event members topics partitions").into()
            );
        };
        let members: usize = members.parse()?;
        Ok(Self {
            kind: if assignor == "range" { Kind::Range } else { Kind::Uniform },
            shape: match shape {
                "equal" => Shape::Equal,
                "one-odd" => Shape::OneOdd,
                "nested" => Shape::Nested,
                "disjoint" => Shape::Disjoint,
                other => return Err(format!("there is no shape {other}").into()),
            },
            joins: event == "joins",
            members,
            partitions: partitions.parse()?,
            topic_names: (0..topics.parse()?).map(|number: usize| format!("topic-{number}")).collect(),
            member_names: (0..=members).map(|number| format!("member-{number}")).collect(),
        })
    }

    /// The group that is assigned: if one joins, the others own what the same assignor gave them.
    fn group(&self) -> Outcome<ServerGroup> {
        let first = ServerGroup::new(&self.input(self.members, None))?;
        if !self.joins {
            return Ok(first);
        }
        let before = server::assign(self.kind, &first)?;
        Ok(ServerGroup::new(&self.input(self.members + 1, Some(&before)))?)
    }

    fn input(&self, members: usize, before: Option<&Assignment>) -> Input<'_> {
        let mut input = Input {
            topics: self.topic_names.iter().map(String::as_str).collect(),
            partitions: vec![self.partitions; self.topic_names.len()],
            missing: vec![false; self.topic_names.len()],
            topic_ids: self.topic_names.iter().map(|name| TopicId::of_name(name)).collect(),
            members: self.member_names[..members].iter().map(String::as_str).collect(),
            instance_ids: vec![None; members],
            ..Input::default()
        };
        for member in 0..members {
            let topics = self.subscribed(member);
            input.subscribed.values.extend(topics.map(|topic| u32::try_from(topic).unwrap_or(0)));
            input.subscribed.end();
        }
        input.owned = match before {
            Some(before) => {
                let pairs = before.topics.iter().copied().zip(before.partitions.iter().copied());
                let mut offsets = before.offsets.clone();
                offsets.push(before.topics.len());
                Lists { offsets, values: pairs.collect() }
            }
            None => Lists { offsets: vec![0; members + 1], values: Vec::new() },
        };
        input
    }

    /// A member that joins has all topics; with Kafka's buckets, it has those of the last bucket.
    fn subscribed(&self, member: usize) -> Range<usize> {
        let all = self.topic_names.len();
        match self.shape {
            Shape::OneOdd if member == 0 => 1..all,
            Shape::Nested if member < self.members => 0..all * (member % FIFTHS + 1) / FIFTHS,
            Shape::Disjoint => {
                let fifth = (member * FIFTHS / self.members).min(FIFTHS - 1);
                all * fifth / FIFTHS..all * (fifth + 1) / FIFTHS
            }
            _ => 0..all,
        }
    }

    /// The sum of a hash of member, topic and partition over the whole answer.
    fn checksum(&self, input: &Assignment) -> Outcome<u64> {
        let topics = self.topic_names.len() as u64;
        let mut sum = 0_u64;
        for (member, span) in input.offsets.windows(2).enumerate() {
            for at in span[0]..span[1] {
                let place = member as u64 * topics + u64::from(input.topics[at]);
                let partition = u64::try_from(input.partitions[at])?;
                let one =
                    (place * u64::from(self.partitions) + partition).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                sum = sum.wrapping_add((one ^ (one >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9));
            }
        }
        Ok(sum)
    }
}
