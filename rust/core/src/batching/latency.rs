//! How long brokers take to answer: always equally long, or as drawn for each request.

use std::f64::consts::TAU;

use crate::java::splittable_random::mix64;
use crate::producer::Draws;
use crate::{Error, Result};

/// How long a broker takes to answer a request, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Always equally long.
    Constant(i64),
    /// Each whole number from the first to the last, both included, equally likely.
    Uniform {
        /// The least.
        from: i64,
        /// The most.
        to: i64,
    },
    /// Log-normal, by its percentiles as in metrics; rounded to the nearest millisecond.
    LogNormal {
        /// The median, 1 or more.
        p50: i64,
        /// The 99th percentile, not below the median.
        p99: i64,
    },
    /// One of these, each equally likely.
    Among(Vec<i64>),
}

impl Default for Latency {
    fn default() -> Self {
        Self::Constant(0)
    }
}

/// The largest draw, because Java's timeouts are 32-bit numbers.
const MOST: i64 = i32::MAX as i64;
/// The 99th percentile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874_040_840_8;
/// The number of possible draws.
const INTS: f64 = 4_294_967_296.0;

impl Latency {
    /// Refuses what no broker's latency can be.
    pub(super) fn check(&self, broker: i32) -> Result<()> {
        let refused = |reason: String| Err(Error::Producer(format!("the broker {broker} {reason}")));
        match self {
            Self::Constant(ms) if *ms < 0 => refused(format!("answers after 0 ms or more, not after {ms}")),
            Self::Uniform { from, to } if !(0 <= *from && from <= to && *to <= MOST) => refused(format!(
                "answers after {from} to {to} ms: the first is 0 or more, and the last no less than that and at \
                 most {MOST}"
            )),
            Self::LogNormal { p50, p99 } if !(1 <= *p50 && p50 <= p99 && *p99 <= MOST) => refused(format!(
                "has a p50 of {p50} and a p99 of {p99} ms: the p50 is 1 or more, and the p99 no less than that and \
                 at most {MOST}"
            )),
            Self::Among(all) if all.is_empty() => {
                refused("answers after one of no latencies: name at least one".to_owned())
            }
            Self::Among(all) => match all.iter().find(|ms| !(0..=MOST).contains(*ms)) {
                Some(ms) => refused(format!("answers after 0 to {MOST} ms, not after {ms}")),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// The latencies of a broker's requests, in their order.
#[derive(Clone, Debug)]
pub(super) struct Latencies {
    latency: Latency,
    draws: Draws,
}

impl Latencies {
    /// They follow from a scenario's seed and the broker's ID, so neither a strategy's draws nor another broker's
    /// requests change them.
    pub(super) fn new(latency: Latency, seed: i64, broker: i32) -> Self {
        // Without the 1, broker 0 would draw the strategy's own numbers from the seed 0.
        let own = mix64(u64::from(broker.cast_unsigned()) + 1);
        let mixed = mix64(seed.cast_unsigned() ^ own);
        Self { latency, draws: Draws::seeded(mixed.cast_signed()) }
    }

    /// The latency of the next request.
    pub(super) fn next(&mut self) -> i64 {
        match &self.latency {
            Latency::Constant(ms) => *ms,
            Latency::Uniform { from, to } => from + below(&mut self.draws, to - from + 1),
            Latency::LogNormal { p50, p99 } => log_normal(&mut self.draws, *p50, *p99),
            Latency::Among(all) => {
                let place = below(&mut self.draws, i64::try_from(all.len()).unwrap_or(MOST));
                usize::try_from(place).ok().and_then(|place| all.get(place)).copied().unwrap_or_default()
            }
        }
    }
}

/// A whole number below the count, which is at most 2^31, each equally likely: draws beyond the last whole multiple of
/// the count are repeated.
fn below(draws: &mut Draws, count: i64) -> i64 {
    const ALL: i64 = 1 << 32;
    let end = ALL - ALL % count;
    loop {
        let number = i64::from(draw(draws));
        if number < end {
            return number % count;
        }
    }
}

/// A normal number by Box and Muller, scaled so that it has these percentiles.
fn log_normal(draws: &mut Draws, p50: i64, p99: i64) -> i64 {
    let (p50, p99) = (float(p50), float(p99));
    // The first is never 0, which has no logarithm.
    let (first, second) = ((f64::from(draw(draws)) + 1.0) / INTS, f64::from(draw(draws)) / INTS);
    let normal = (-2.0 * first.ln()).sqrt() * (TAU * second).cos();
    let sigma = (p99 / p50).ln() / NORMAL_P99;
    let ms = (p50 * (sigma * normal).exp()).round().min(float(MOST));
    #[expect(clippy::cast_possible_truncation, reason = "a whole number from 0 to 2^31 - 1")]
    let whole = ms as i64;
    whole
}

/// A seed's draws never end.
fn draw(draws: &mut Draws) -> u32 {
    draws.next_int().unwrap_or_default().cast_unsigned()
}

/// A number of milliseconds, which has at most 31 bits.
fn float(ms: i64) -> f64 {
    f64::from(i32::try_from(ms).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(latency: Latency, seed: i64, broker: i32, count: usize) -> Vec<i64> {
        let mut latencies = Latencies::new(latency, seed, broker);
        (0..count).map(|_| latencies.next()).collect()
    }

    /// How many of each there are, in their order.
    fn counted(mut drawn: Vec<i64>) -> Vec<(i64, usize)> {
        drawn.sort_unstable();
        drawn.chunk_by(|one, other| one == other).map(|same| (same[0], same.len())).collect()
    }

    #[test]
    fn a_uniform_one_has_both_ends_and_what_is_between_as_often() {
        let counts = counted(drawn(Latency::Uniform { from: 3, to: 7 }, 1, 0, 10_000));
        assert_eq!(counts.iter().map(|&(ms, _)| ms).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert!(counts.iter().all(|&(_, count)| (1850..2150).contains(&count)), "{counts:?}");
        assert_eq!(drawn(Latency::Uniform { from: 4, to: 4 }, 1, 0, 3), [4, 4, 4]);
        let widest = drawn(Latency::Uniform { from: 0, to: MOST }, 1, 0, 1000);
        assert!(widest.iter().all(|ms| (0..=MOST).contains(ms)));
        assert!(widest.iter().any(|&ms| ms > MOST / 2) && widest.iter().any(|&ms| ms < MOST / 2));
    }

    #[test]
    fn each_measurement_comes_as_often_as_it_was_measured() {
        let counts = counted(drawn(Latency::Among(vec![50, 1, 2, 1]), 1, 0, 10_000));
        assert_eq!(counts.iter().map(|&(ms, _)| ms).collect::<Vec<_>>(), [1, 2, 50]);
        assert!((4850..5150).contains(&counts[0].1), "{counts:?}");
        assert_eq!(drawn(Latency::Among(vec![8]), 1, 0, 2), [8, 8]);
    }

    #[test]
    fn a_log_normal_one_has_its_percentiles() {
        for (p50, p99) in [(200, 4000), (100, 150), (2000, 4000)] {
            let mut counts = drawn(Latency::LogNormal { p50, p99 }, 1, 0, 100_000);
            counts.sort_unstable();
            for (place, expected) in [(49_999, p50), (98_999, p99)] {
                let beside = (float(counts[place]) / float(expected) - 1.0).abs();
                assert!(beside < 0.03, "{} and not {expected}", counts[place]);
            }
        }
        assert_eq!(drawn(Latency::LogNormal { p50: 7, p99: 7 }, 1, 0, 3), [7, 7, 7]);
        let longest = drawn(Latency::LogNormal { p50: MOST, p99: MOST }, 1, 0, 3);
        assert_eq!(longest, [MOST; 3]);
        let widest = drawn(Latency::LogNormal { p50: 1, p99: MOST }, 1, 0, 10_000);
        assert_eq!(widest.iter().max(), Some(&MOST), "no more than that");
        assert_eq!(widest.iter().min(), Some(&0));
    }

    #[test]
    fn a_seed_and_a_broker_stand_for_latencies() {
        let wide = Latency::Uniform { from: 0, to: 1_000_000 };
        let of = |seed, broker| drawn(wide.clone(), seed, broker, 20);
        assert_eq!(of(7, 0), of(7, 0));
        assert_ne!(of(7, 0), of(8, 0));
        assert_ne!(of(7, 0), of(7, 1));
        let mut strategys = Draws::seeded(7);
        let theirs: Vec<_> = (0..20).map(|_| below(&mut strategys, 1_000_001)).collect();
        assert_ne!(of(7, 0), theirs);
    }

    #[test]
    fn a_constant_one_draws_nothing() {
        let mut latencies = Latencies::new(Latency::Constant(12), 7, 0);
        assert_eq!([latencies.next(), latencies.next()], [12, 12]);
        assert_eq!(latencies.draws.taken(), 0);
        let mut drawn = Latencies::new(Latency::Uniform { from: 0, to: 3 }, 7, 0);
        drawn.next();
        assert_eq!(drawn.draws.taken(), 1);
    }

    #[test]
    fn what_is_no_latency_is_refused_by_name() {
        let refused =
            |latency: Latency| latency.check(3).err().map_or_else(String::new, |error| error.to_string());
        assert_eq!(refused(Latency::Constant(-1)), "the broker 3 answers after 0 ms or more, not after -1");
        for (from, to) in [(9, 1), (-1, 1), (0, MOST + 1)] {
            let sentence = refused(Latency::Uniform { from, to });
            assert!(
                sentence.starts_with(&format!("the broker 3 answers after {from} to {to} ms: ")),
                "{sentence}"
            );
        }
        for (p50, p99) in [(0, 1), (2, 1), (1, MOST + 1)] {
            let sentence = refused(Latency::LogNormal { p50, p99 });
            assert!(
                sentence.starts_with(&format!("the broker 3 has a p50 of {p50} and a p99 of {p99} ms")),
                "{sentence}"
            );
        }
        assert!(refused(Latency::Among(vec![])).contains("one of no latencies"));
        assert!(refused(Latency::Among(vec![1, -2])).ends_with("not after -2"));
        assert!(refused(Latency::Among(vec![MOST + 1])).ends_with("not after 2147483648"));
        for fine in [
            Latency::Constant(i64::MAX),
            Latency::Uniform { from: 0, to: MOST },
            Latency::LogNormal { p50: 1, p99: MOST },
            Latency::Among(vec![0, MOST]),
        ] {
            assert_eq!(refused(fine), "");
        }
    }
}
