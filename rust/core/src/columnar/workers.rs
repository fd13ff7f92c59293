//! Who does the work: the columns start no thread themselves.

/// A piece of work that may be done at the same time as others.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Who does pieces of work.
pub trait Workers {
    /// Into how many pieces it is worth to cut the work on so many rows; 0 is taken for 1.
    fn pieces(&self, rows: usize) -> usize;

    /// Does all of them, and comes back when they are done.
    fn work(&self, jobs: Vec<Job<'_>>);
}

/// Whoever calls, one piece after the other.
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
