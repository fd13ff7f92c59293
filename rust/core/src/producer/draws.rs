//! Random numbers as an input: Java's `SplittableRandom` from a seed, or recorded draws.

use crate::hashing::to_positive;
use crate::java::splittable_random::SplittableRandom;
use crate::{Error, Result, counted};

/// The source of a strategy's draws, each one a Java `nextInt()`.
///
/// ```
/// use partwright_core::producer::Draws;
/// let (mut seeded, mut again) = (Draws::seeded(7), Draws::seeded(7));
/// assert_eq!(seeded.next_int(), again.next_int());
/// assert_eq!(Draws::recorded(vec![-3]).next_int(), Ok(-3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draws {
    source: NumberSource,
    taken: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NumberSource {
    Seeded(SplittableRandom),
    Recorded(Vec<i32>),
}

impl Draws {
    /// The numbers of `new SplittableRandom(seed)`.
    pub fn seeded(seed: i64) -> Self {
        Self { source: NumberSource::Seeded(SplittableRandom::new(seed.cast_unsigned())), taken: 0 }
    }

    /// These numbers, in this order.
    pub fn recorded(values: Vec<i32>) -> Self {
        Self { source: NumberSource::Recorded(values), taken: 0 }
    }

    /// How many have been drawn.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The next one.
    ///
    /// # Errors
    /// [`Error::Producer`] if the recorded ones are used up.
    pub fn next_int(&mut self) -> Result<i32> {
        let drawn = match &mut self.source {
            NumberSource::Seeded(random) => random.next_int(),
            NumberSource::Recorded(values) => *values.get(self.taken).ok_or_else(|| {
                let draws = counted(values.len(), "draw is", "draws are");
                Error::Producer(format!("{draws} taken, and one more is needed"))
            })?,
        };
        self.taken += 1;
        Ok(drawn)
    }

    /// The next one without its sign, as in all of Kafka's classes except the oldest.
    pub(super) fn positive(&mut self) -> Result<u32> {
        self.next_int().map(to_positive)
    }

    /// The next one by Kafka 0.8's `Utils.abs`: its distance from 0, but 0 for the smallest int, whose distance does
    /// not fit into an int.
    pub(super) fn distance(&mut self) -> Result<u32> {
        self.next_int().map(|drawn| drawn.checked_abs().unwrap_or_default().cast_unsigned())
    }
}
