//! Shrinking on choices: fewer and lower choices make a simpler case, whatever the choices mean.

use super::descent::{Descent, Simpler};

/// The simplest list of choices that `fails` still accepts, starting from `choices`, which it accepts. At most `budget`
/// lists are tried.
pub fn shrink(choices: Vec<u32>, budget: usize, mut fails: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
    Descent::new(Choices(choices)).run(budget, |choices| fails(&choices.0)).0
}

/// The choices of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices(pub Vec<u32>);

/// An edit of a list of choices.
#[derive(Debug, Clone, Copy)]
pub enum Edit {
    /// Those from the one to before the other are left out.
    Delete(usize, usize),
    /// Likewise, and the one before them is lowered: it often counts what follows.
    DeleteCounted(usize, usize),
    /// One becomes zero.
    Zero(usize),
    /// One is halved.
    Halve(usize),
    /// One is lowered by one.
    Lower(usize),
}

impl Simpler for Choices {
    type Edit = Edit;

    fn edits(&self) -> Vec<Edit> {
        let len = self.0.len();
        let mut all = Vec::new();
        for width in [32, 16, 8, 4, 3, 2, 1] {
            let mut end = len;
            while end > 0 {
                let start = end.saturating_sub(width);
                all.extend([Edit::Delete(start, end), Edit::DeleteCounted(start, end)]);
                end = start;
            }
        }
        all.extend((0..len).flat_map(|i| [Edit::Zero(i), Edit::Halve(i), Edit::Lower(i)]));
        all
    }

    fn edited(&self, edit: &Edit) -> Option<Self> {
        let mut choices = self.0.clone();
        match *edit {
            Edit::Delete(start, end) => drop(choices.drain(start..end)),
            Edit::DeleteCounted(start, end) => {
                choices.drain(start..end);
                let counts = choices.get_mut(start.checked_sub(1)?)?;
                *counts = counts.checked_sub(1)?;
            }
            Edit::Zero(i) => choices[i] = 0,
            Edit::Halve(i) => choices[i] /= 2,
            Edit::Lower(i) => choices[i] = choices[i].checked_sub(1)?,
        }
        is_simpler(&choices, &self.0).then_some(Self(choices))
    }
}

/// Shorter is simpler; of the same length the lexicographically lower. Trailing zeros are free, since a source that has
/// run out of choices gives zeros.
fn is_simpler(a: &[u32], b: &[u32]) -> bool {
    let trimmed = |choices: &[u32]| choices.iter().rposition(|choice| *choice != 0).map_or(0, |last| last + 1);
    let (a, b) = (&a[..trimmed(a)], &b[..trimmed(b)]);
    (a.len(), a) < (b.len(), b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_the_least_choices_that_fail() {
        let start = vec![9, 3, 77, 2, 50, 8, 1];
        let small = shrink(start, 10_000, |choices| choices.iter().any(|choice| *choice >= 40));
        assert_eq!(small, [40]);
    }

    #[test]
    fn stays_within_its_budget() {
        let mut tried = 0;
        shrink(vec![5; 50], 30, |_| {
            tried += 1;
            true
        });
        assert!(tried <= 30);
    }
}
