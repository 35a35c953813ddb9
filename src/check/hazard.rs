//! The stale hits that the rules state, by what is wrong with them.
//!
//! A rule whose verdicts are `predicted` says one thing only: no hit is stale. It is taken at its word but for what another
//! rule states as a hazard: the same difference at the same position. So a hazard that is taken out of the spec is found
//! again by the pairs of such a rule.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::case::Case;
use crate::generate::{Generator, Pair, Plan, Source};
use crate::model::{Difference, predict};
use crate::spec::Profile;

/// How many pairs of a rule are looked at to learn what it states.
const DRAWS: u64 = 80;

/// What is wrong with a stale hit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Hazard {
    position: String,
    component: String,
    /// What kind of thing the one and the other are, in either order.
    kinds: BTreeSet<String>,
}

impl Hazard {
    fn of(pair: &Pair, difference: &Difference) -> Self {
        let position = pair.positions.first().cloned().unwrap_or_default();
        let kinds = kinds(&difference.before, &difference.after).into();
        Self { position, component: difference.component.clone(), kinds }
    }
}

/// The hazards that the rules of a campaign state, learnt when they are first asked for.
#[derive(Debug, Default)]
pub struct Hazards(OnceLock<BTreeSet<Hazard>>);

impl Hazards {
    /// Whether a rule states that hits like this one are stale.
    pub(super) fn state(&self, generator: &Generator<'_>, profile: &Profile, pair: &Pair, wrong: &Difference) -> bool {
        self.0.get_or_init(|| stated(generator, profile)).contains(&Hazard::of(pair, wrong))
    }
}

/// The component that a stale hit is wrong in, and the kinds of what it was traced from and of what it should be.
pub(super) type Wrong = (String, BTreeSet<String>);

/// What is wrong with the first stale hit of a case, as the model sees it: by that the findings of one rule are told apart.
pub(super) fn wrong_with(case: &Case, profile: &Profile) -> Option<Wrong> {
    let stale = predict(case, profile).ok()?.into_iter().find_map(|call| call.stale)?;
    Some((stale.component, kinds(&stale.before, &stale.after).into()))
}

fn stated(generator: &Generator<'_>, profile: &Profile) -> BTreeSet<Hazard> {
    let mut hazards = BTreeSet::new();
    for rule in generator.rules() {
        if rule.pair.is_none() || !generator.outcome(rule).is_some_and(|outcome| outcome.is_stale()) {
            continue;
        }
        for draw in 0..DRAWS {
            let Ok(pair) = generator.pair(&Plan { rules: vec![rule] }, &mut Source::random(draw)) else { continue };
            let predictions = predict(&pair.case, profile).unwrap_or_default();
            hazards.extend(predictions.iter().filter_map(|call| Some(Hazard::of(&pair, call.stale.as_ref()?))));
        }
    }
    hazards
}

/// The words in which two texts differ: what types of numbers there are is alike, and of numbers only which zeros they are.
fn kinds(before: &str, after: &str) -> [String; 2] {
    let shared = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    let of_word = |c: &char| c.is_alphanumeric() || "_.-".contains(*c);
    let words = [before, after].map(|text| {
        let chars: Vec<char> = text.chars().collect();
        let back = chars[..shared].iter().rev().take_while(|c| of_word(c)).count();
        let word: String = chars[shared - back..].iter().take_while(|c| of_word(c)).collect();
        if word.is_empty() && chars.get(shared) == Some(&'(') { "complex".to_owned() } else { word }
    });
    let types = words.each_ref().map(|word| type_of_number(word));
    let is_in_type = types[0] != types[1];
    words.map(|word| match (type_of_number(&word), word.parse::<f64>()) {
        (Some(_), _) if is_in_type => "a type of number".to_owned(),
        (_, Ok(number)) if number != 0.0 => "a number".to_owned(),
        _ => word,
    })
}

/// The type of the number that a word is or begins.
fn type_of_number(word: &str) -> Option<&str> {
    match word {
        "True" | "False" => Some("bool"),
        "complex" => Some("complex"),
        _ if word.starts_with("np.") => Some(word),
        _ if word.parse::<i128>().is_ok() => Some("int"),
        _ => word.parse::<f64>().is_ok().then_some("float"),
    }
}
