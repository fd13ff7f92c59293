//! The interface for threads: the columns start none themselves.

/// A piece of work that may be done at the same time as others.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs pieces of work.
pub trait Workers {
    /// Into how many pieces the work on a number of rows should be cut; 0 counts as 1.
    fn pieces(&self, rows: usize) -> usize;

    /// Runs all of them, and returns when they are done.
    fn work(&self, jobs: Vec<Job<'_>>);
}

/// The calling thread, one piece after the other.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Workers for Alone {
    fn pieces(&self, _: usize) -> usize {
        1
    }

    fn work(&self, jobs: Vec<Job<'_>>) {
        for job in jobs {
            job();
        }
    }
}
