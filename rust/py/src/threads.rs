//! Threads for long columns, if the caller asks for them, and locks.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use partwright_core::columnar::{Job, Workers};

use crate::arguments::Threads;
use crate::error::quiet;

/// The value behind a lock, which is consistent after each call, even after a panic.
pub(crate) fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A second thread pays off for a column of more rows than this.
const LONG: usize = 1_000_000;
/// The fewest rows in a piece of work.
const PIECE: usize = 250_000;

impl Workers for Threads {
    fn pieces(&self, rows: usize) -> usize {
        if rows <= LONG { 1 } else { self.0.min(rows / PIECE) }
    }

    /// This thread does its share too. If the system refuses a thread, the others do its share.
    fn work(&self, jobs: Vec<Job<'_>>) {
        let others = jobs.len().saturating_sub(1);
        let queue = Mutex::new(jobs.into_iter());
        let next = || locked(&queue).next();
        let work = || {
            while let Some(job) = next() {
                job();
            }
        };
        thread::scope(|scope| {
            for _ in 0..others {
                if thread::Builder::new().spawn_scoped(scope, || quiet(work)).is_err() {
                    break;
                }
            }
            work();
        });
    }
}
