//! Greedy descent: what is simpler is tried, one edit after the other, and what still fails is taken.

/// What has simpler forms.
pub trait Simpler: Sized {
    /// A way to make it simpler.
    type Edit;
    /// All ways, those that promise most first.
    fn edits(&self) -> Vec<Self::Edit>;
    /// It, edited; `None` if that gives nothing simpler.
    fn edited(&self, edit: &Self::Edit) -> Option<Self>;
}

/// A descent under way, for a caller who decides what fails. It ends: every edit makes something simpler.
#[derive(Debug)]
pub struct Descent<T: Simpler> {
    best: T,
    edits: Vec<T::Edit>,
    /// The edit that is tried next. After a success the next round begins where it was, not at the first edit again.
    here: usize,
    /// How many were tried since the last success.
    tried: usize,
}

impl<T: Simpler> Descent<T> {
    /// Begins at something that fails.
    #[must_use]
    pub fn new(start: T) -> Self {
        let edits = start.edits();
        Self { best: start, edits, here: 0, tried: 0 }
    }

    /// The simplest that failed so far.
    #[cfg(feature = "proptest")]
    pub fn best(&self) -> &T {
        &self.best
    }

    /// The next to try; `None` once nothing simpler is left.
    pub fn candidate(&mut self) -> Option<T> {
        while self.tried < self.edits.len() {
            let edit = &self.edits[self.here % self.edits.len()];
            self.here += 1;
            self.tried += 1;
            if let Some(simpler) = self.best.edited(edit) {
                return Some(simpler);
            }
        }
        None
    }

    /// Says that the last candidate fails, too.
    pub fn take(&mut self, candidate: T) {
        self.edits = candidate.edits();
        self.best = candidate;
        self.here = self.here.saturating_sub(1);
        self.tried = 0;
    }

    /// The simplest that `fails` accepts, after at most `budget` candidates.
    pub fn run(mut self, budget: usize, mut fails: impl FnMut(&T) -> bool) -> T {
        for _ in 0..budget {
            let Some(candidate) = self.candidate() else { break };
            if fails(&candidate) {
                self.take(candidate);
            }
        }
        self.best
    }
}
