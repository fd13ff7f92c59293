//! The random numbers of a placement: `java.util.Random` from a seed, or recorded draws.

use crate::java::random::Random;
use crate::{Error, Result};

/// The source of the draws, each one a Java `nextInt(bound)`; and all draws taken so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementDraws {
    source: PlacementSource,
    taken: Vec<i32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PlacementSource {
    Seeded(Random),
    Recorded(Vec<i32>),
}

impl PlacementDraws {
    /// The numbers of a `new Random(seed)`.
    pub fn seeded(seed: i64) -> Self {
        Self { source: PlacementSource::Seeded(Random::new(seed)), taken: Vec::new() }
    }

    /// These numbers, in this order. A number below 0 is refused when it is drawn.
    pub fn recorded(values: Vec<i32>) -> Self {
        Self { source: PlacementSource::Recorded(values), taken: Vec::new() }
    }

    /// All draws taken so far.
    pub fn into_taken(self) -> Vec<i32> {
        self.taken
    }

    /// The next one, from 0 to the bound minus 1.
    pub(super) fn below(&mut self, bound: usize) -> Result<usize> {
        let place = self.taken.len();
        let drawn = match &mut self.source {
            // There are never more brokers than fit into Java's int.
            PlacementSource::Seeded(random) => {
                random.next_int(u32::try_from(bound).unwrap_or(u32::MAX)).cast_signed()
            }
            PlacementSource::Recorded(values) => *values.get(place).ok_or(Error::Draw { place, bound })?,
        };
        let number = usize::try_from(drawn).ok().filter(|&number| number < bound);
        let number = number.ok_or(Error::Draw { place, bound })?;
        self.taken.push(drawn);
        Ok(number)
    }

    /// `Collections.shuffle`: from the last place down, each element is swapped with a random one up to it.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) -> Result<()> {
        for size in (2..=items.len()).rev() {
            items.swap(size - 1, self.below(size)?);
        }
        Ok(())
    }
}
