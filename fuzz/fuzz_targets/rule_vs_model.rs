//! `rule(pair) = model(pair)` for every pair that any choices make.
#![no_main]

use jitkey::generate::{Generator, Source};
use jitkey::model::{Prediction, predict};
use jitkey::spec::Spec;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(Spec::embedded);
const VERSION: &str = "0.12.0.1";

#[derive(arbitrary::Arbitrary, Debug)]
struct Input {
    filter_jit: bool,
    rule: u16,
    choices: Vec<u32>,
}

fuzz_target!(|input: Input| {
    let implementation = if input.filter_jit { "equinox.filter_jit" } else { "jax.jit" };
    let version = VERSION.parse().expect("a version");
    let generator = Generator::new(&SPEC, implementation, &version, |_| true).expect("there is a profile");
    let profile = SPEC.profile(implementation, &version).expect("there is a profile");
    let mut source = Source::playback(input.choices);
    let plan = generator.plan(input.rule.into(), &mut source);
    let Ok(pair) = generator.pair(&plan, &mut source) else { return };
    if let Ok(verdicts) = predict(&pair.case, profile) {
        assert_eq!(verdicts.iter().map(Prediction::behaviour).collect::<Vec<_>>(), pair.expected.calls, "{}\n{}", plan.name(), jitkey::case::text::to_yaml(&pair.case));
    }
});
