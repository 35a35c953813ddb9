//! A source of choices: random, played back, or a fuzzer's bytes.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::spec::Numbers;

/// Choices, each a number below some bound, where 0 is the simplest. The choices made are kept, so that they can be
/// played back, shortened and lowered.
#[derive(Debug)]
pub struct Source {
    feed: Feed,
    made: Vec<u32>,
}

#[derive(Debug)]
enum Feed {
    Random(Box<ChaCha8Rng>),
    Playback(std::vec::IntoIter<u32>),
    Bytes(std::vec::IntoIter<u8>),
}

impl Source {
    /// Random choices; the same seed gives the same choices.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        Self { feed: Feed::Random(Box::new(ChaCha8Rng::seed_from_u64(seed))), made: Vec::new() }
    }

    /// The given choices, and the simplest after their end. A choice that is out of bounds is brought into them.
    #[must_use]
    pub fn playback(choices: Vec<u32>) -> Self {
        Self { feed: Feed::Playback(choices.into_iter()), made: Vec::new() }
    }

    /// Choices from a fuzzer's bytes, and the simplest after their end. Most choices are among few and take one byte, so that
    /// a byte is what a mutator changes to change one of them.
    #[must_use]
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self { feed: Feed::Bytes(bytes.into_iter()), made: Vec::new() }
    }

    /// A number in `0..bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        let choice = match &mut self.feed {
            _ if bound <= 1 => 0,
            Feed::Random(random) => {
                // The bias of the high product is below 2^-32 times the bound: nothing that a campaign could see.
                ((u64::from(random.next_u32()) * u64::from(bound)) >> 32) as u32
            }
            Feed::Playback(choices) => choices.next().unwrap_or(0) % bound,
            Feed::Bytes(bytes) => {
                let mut byte = || u32::from(bytes.next().unwrap_or(0));
                let width = match bound {
                    ..=0x100 => 1,
                    0x101..=0x1_0000 => 2,
                    _ => 4,
                };
                (0..width).map(|i| byte() << (8 * i)).fold(0, |number, part| number | part) % bound
            }
        };
        if bound > 1 {
            self.made.push(choice);
        }
        choice
    }

    /// A number of the range; the nearer to zero, the simpler.
    pub fn number(&mut self, range: Numbers) -> i64 {
        let span = u32::try_from(range.max - range.min + 1).unwrap_or(u32::MAX);
        let step = i64::from(self.below(span));
        let both_sides = range.max.min(-range.min);
        match step {
            _ if range.min >= 0 => range.min + step,
            _ if range.max <= 0 => range.max - step,
            // 0, 1, -1, 2, -2, … as far as both sides go, and then on along the longer one.
            step if step > 2 * both_sides && range.max > both_sides => step - both_sides,
            step if step > 2 * both_sides => both_sides - step,
            step if step % 2 == 1 => step / 2 + 1,
            step => -(step / 2),
        }
    }

    /// Any number of 64 bits; the nearer to zero, the simpler.
    pub fn bits(&mut self) -> u64 {
        let [low, high] = [self.below(u32::MAX), self.below(u32::MAX)];
        u64::from(high) << 32 | u64::from(low)
    }

    /// One of the items; the first is the simplest.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(u32::try_from(items.len()).unwrap_or(u32::MAX)) as usize]
    }

    /// The index of a weight, as often as it weighs; the first is the simplest.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let mut rest = self.below(weights.clone().sum());
        for (i, weight) in weights.enumerate() {
            if rest < weight {
                return i;
            }
            rest -= weight;
        }
        0
    }

    /// True in one of `n` cases; false is the simplest.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }

    /// The choices made so far.
    #[must_use]
    pub fn choices(&self) -> &[u32] {
        &self.made
    }

    /// The choices that were made.
    #[must_use]
    pub fn into_choices(self) -> Vec<u32> {
        self.made
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Source {
    fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let rest = bytes.len();
        Ok(Self::bytes(bytes.bytes(rest)?.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_choices_and_end_in_the_simplest() {
        let mut source = Source::bytes(vec![7, 0x34, 0x12]);
        assert_eq!([source.below(5), source.below(1), source.below(0x1_0000), source.below(9)], [2, 0, 0x1234, 0]);
        assert_eq!(source.choices(), [2, 0x1234, 0]);
    }

    #[test]
    fn numbers_begin_near_zero_and_cover_the_range() {
        let numbers = |min, max| -> Vec<i64> {
            let range = Numbers { min, max };
            (0..=u32::try_from(max - min).unwrap()).map(|choice| Source::playback(vec![choice]).number(range)).collect()
        };
        assert_eq!(numbers(-2, 4), [0, 1, -1, 2, -2, 3, 4]);
        assert_eq!(numbers(-4, 1), [0, 1, -1, -2, -3, -4]);
        assert_eq!(numbers(2, 4), [2, 3, 4]);
        assert_eq!(numbers(-4, -2), [-2, -3, -4]);
    }
}
