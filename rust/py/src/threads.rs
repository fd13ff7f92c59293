//! Threads for long columns, where the caller asks for them.

use std::sync::{Mutex, PoisonError};
use std::thread;

use partwright_core::columnar::{Job, Workers};

use crate::arguments::Threads;
use crate::error::quiet;

/// A column of more rows than this is worth a second thread.
const LONG: usize = 1_000_000;
/// The fewest rows that are a piece of work.
const PIECE: usize = 250_000;

impl Workers for Threads {
    fn pieces(&self, rows: usize) -> usize {
        if rows <= LONG { 1 } else { self.0.min(rows / PIECE) }
    }

    /// This thread works along; one that the system does not give is done without.
    fn work(&self, jobs: Vec<Job<'_>>) {
        let others = jobs.len().saturating_sub(1);
        let queue = Mutex::new(jobs.into_iter());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
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
