//! Shrinking on choices: fewer and lower choices make a simpler case, whatever the choices mean.

/// The simplest list of choices that `fails` still accepts, starting from `choices`, which it accepts. At most `budget`
/// lists are tried.
pub fn shrink(choices: Vec<u32>, mut budget: usize, mut fails: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = choices;
    let mut attempt = |candidate: Vec<u32>, best: &mut Vec<u32>| {
        if budget == 0 || !simpler(&candidate, best) {
            return false;
        }
        budget -= 1;
        let better = fails(&candidate);
        if better {
            *best = candidate;
        }
        better
    };
    loop {
        let before = best.clone();
        delete_spans(&mut best, &mut attempt);
        lower_each(&mut best, &mut attempt);
        if best == before {
            return best;
        }
    }
}

/// Shorter is simpler; of the same length the lexicographically lower. Trailing zeros are free, since a source that has
/// run out of choices gives zeros.
fn simpler(a: &[u32], b: &[u32]) -> bool {
    let trimmed = |choices: &[u32]| choices.iter().rposition(|choice| *choice != 0).map_or(0, |last| last + 1);
    let (a, b) = (&a[..trimmed(a)], &b[..trimmed(b)]);
    (a.len(), a) < (b.len(), b)
}

fn delete_spans(best: &mut Vec<u32>, attempt: &mut impl FnMut(Vec<u32>, &mut Vec<u32>) -> bool) {
    for width in [32, 16, 8, 4, 3, 2, 1] {
        let mut end = best.len();
        while end > 0 {
            let start = end.saturating_sub(width);
            let mut shorter = best.clone();
            shorter.drain(start..end);
            if !attempt(shorter, best) {
                // A deletion often needs one choice fewer counted just before it.
                let mut counted = best.clone();
                counted.drain(start..end);
                if start > 0 && counted[start - 1] > 0 {
                    counted[start - 1] -= 1;
                    attempt(counted, best);
                }
            }
            end = start.min(best.len());
        }
    }
}

fn lower_each(best: &mut Vec<u32>, attempt: &mut impl FnMut(Vec<u32>, &mut Vec<u32>) -> bool) {
    let mut i = 0;
    while i < best.len() {
        let mut low = 0;
        while i < best.len() && low < best[i] {
            let mut lower = best.clone();
            lower[i] = low;
            if attempt(lower, best) {
                break;
            }
            // Zero first, then halfway up, then one below.
            low = if low == 0 { best[i] / 2 } else { best[i] - 1 }.max(low + 1);
        }
        i += 1;
    }
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
