//! proptest strategies over the same choices: what fails shrinks as a finding of `jitkey check` does.
//!
//! ```
//! # use jitkey::{generate::{Generator, strategy}, model::predict, spec::Spec};
//! # use proptest::{prop_assert_eq, test_runner::TestRunner};
//! let spec = Spec::embedded();
//! let version = "0.12.0.1".parse().unwrap();
//! let generator = Generator::new(&spec, "jax.jit", &version, |_| true).unwrap();
//! let profile = spec.profile("jax.jit", &version).unwrap();
//! TestRunner::deterministic()
//!     .run(&strategy::pair_of(&generator, "weak-type/flip"), |pair| {
//!         let calls = predict(&pair.case, profile).unwrap();
//!         prop_assert_eq!(calls[1].behaviour(), pair.expected.calls[1].clone());
//!         Ok(())
//!     })
//!     .unwrap();
//! ```

use std::fmt::Debug;

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rand_chacha::rand_core::Rng as _;

use super::descent::Descent;
use super::shrink::Choices;
use super::{Discard, Generator, Pair, Source};
use crate::case::{Case, Value};

/// How often a draw that gives nothing is repeated.
const ATTEMPTS: usize = 64;

/// Any pair of any rule, with those of other rules beside it now and then.
///
/// The strategy gives the case and what the rules expect of its calls.
pub fn any_case<'g>(generator: &'g Generator<'_>) -> impl Strategy<Value = Pair> + use<'g> {
    drawn(|source| generator.any(source).map(|(_, pair)| pair))
}

/// A pair of one rule.
///
/// The strategy rejects everything if the generator has no rule of that id.
pub fn pair_of<'g>(generator: &'g Generator<'_>, rule: &'g str) -> impl Strategy<Value = Pair> + use<'g> {
    drawn(move |source| generator.pair_of(rule, source))
}

/// Two calls in which the `sides` stand at the same place of the same random pytree, at `position` (`dynamic`, `static`,
/// `aux`, …, as in `spec/contexts.yaml`).
///
/// The strategy rejects everything if the implementation doesn't have the position.
pub fn context<'g>(
    generator: &'g Generator<'_>,
    position: &'g str,
    sides: &'g [Value; 2],
) -> impl Strategy<Value = Case> + use<'g> {
    drawn(move |source| generator.around(position, sides, source))
}

/// Any value that needs no class and no object of a case.
pub fn any_value() -> impl Strategy<Value = Value> {
    drawn(|source| Ok(source.value()))
}

/// What `make` makes of choices.
pub fn drawn<T: Debug, F: Fn(&mut Source) -> Result<T, Discard>>(make: F) -> impl Strategy<Value = T> {
    Drawn { make: std::rc::Rc::new(make) }
}

struct Drawn<F> {
    make: std::rc::Rc<F>,
}

impl<F> Debug for Drawn<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Drawn")
    }
}

impl<T: Debug, F: Fn(&mut Source) -> Result<T, Discard>> Strategy for Drawn<F> {
    type Tree = Tree<F>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        for _ in 0..ATTEMPTS {
            let mut source = Source::random(runner.rng().next_u64());
            if (self.make)(&mut source).is_ok() {
                let descent = Descent::new(Choices(source.into_choices()));
                return Ok(Tree { make: self.make.clone(), descent, tried: None });
            }
        }
        Err(format!("{ATTEMPTS} draws gave no case").into())
    }
}

struct Tree<F> {
    make: std::rc::Rc<F>,
    descent: Descent<Choices>,
    /// The candidate that is being tried.
    tried: Option<Choices>,
}

impl<T: Debug, F: Fn(&mut Source) -> Result<T, Discard>> Tree<F> {
    fn made_of(&self, choices: &Choices) -> Result<T, Discard> {
        (self.make)(&mut Source::playback(choices.0.clone()))
    }

    fn advance(&mut self) -> bool {
        while let Some(candidate) = self.descent.candidate() {
            if self.made_of(&candidate).is_ok() {
                self.tried = Some(candidate);
                return true;
            }
        }
        false
    }
}

impl<T: Debug, F: Fn(&mut Source) -> Result<T, Discard>> ValueTree for Tree<F> {
    type Value = T;

    fn current(&self) -> T {
        let choices = self.tried.as_ref().unwrap_or_else(|| self.descent.best());
        self.made_of(choices).expect("these choices gave something before")
    }

    fn simplify(&mut self) -> bool {
        if let Some(failed) = self.tried.take() {
            self.descent.take(failed);
        }
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        self.tried = None;
        self.advance()
    }
}
