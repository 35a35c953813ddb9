//! The properties that the fuzz targets check, on random input, on what fuzzers found before, and on lies.

use std::path::Path;

use arbitrary::{Arbitrary as _, Unstructured};
use jitkey::case::{Value, Verdict, text};
use jitkey::generate::{Generator, Reach, Source, strategy};
use jitkey::model::predict;
use jitkey::property::{Calls, FromChoices as _, RuledPair, case_text, mutated, naive, protocol_line, spec_text};
use jitkey::spec::Version;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use rstest::rstest;

use super::common::{NEWEST, SEED, SPEC};

type Property = fn(&[u8]);

fn of_text(bytes: &[u8], property: fn(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        property(text);
    }
}

fn of_pair(bytes: &[u8], property: fn(&RuledPair)) {
    if let Ok(pair) = RuledPair::arbitrary(&mut Unstructured::new(bytes)) {
        property(&pair);
    }
}

fn of_calls(bytes: &[u8], property: fn(&Calls)) {
    if let Ok(calls) = Calls::arbitrary(&mut Unstructured::new(bytes)) {
        property(&calls);
    }
}

/// Each fuzz target with its property: the same as `fuzz/fuzz_targets` calls.
const TARGETS: [(&str, Property); 8] = [
    ("case_text", |bytes| of_text(bytes, case_text)),
    ("spec_text", |bytes| of_text(bytes, spec_text)),
    ("protocol_line", |bytes| of_text(bytes, protocol_line)),
    ("key_laws", |bytes| of_calls(bytes, Calls::keys_are_equalities)),
    ("rule_vs_model", |bytes| of_pair(bytes, RuledPair::rule_is_model)),
    ("naive_vs_model", |bytes| {
        of_pair(bytes, RuledPair::naive_is_model);
        of_calls(bytes, Calls::naive_is_model);
    }),
    ("explanation", |bytes| of_pair(bytes, RuledPair::is_explained)),
    ("sequence", |bytes| of_calls(bytes, Calls::history_is_a_union)),
];

#[test]
fn every_fuzz_target_has_its_property_here() {
    let files = std::fs::read_dir("fuzz/fuzz_targets").unwrap();
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    let mut known: Vec<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    known.sort();
    assert_eq!(names, known);
    for (name, _) in TARGETS {
        let glue = std::fs::read_to_string(format!("fuzz/fuzz_targets/{name}.rs")).unwrap();
        assert!(glue.lines().count() <= 20, "{name} is more than glue");
    }
}

#[rstest]
fn what_fuzzers_found_stays_mended(
    #[values(
        "case_text",
        "spec_text",
        "protocol_line",
        "key_laws",
        "rule_vs_model",
        "naive_vs_model",
        "explanation",
        "sequence"
    )]
    target: &str,
) {
    let (_, property) = TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    let folder = Path::new("fuzz/regressions").join(target);
    for file in std::fs::read_dir(folder).into_iter().flatten() {
        property(&std::fs::read(file.unwrap().path()).unwrap());
    }
    // And what nobody found yet.
    for seed in 0..3_000 {
        let mut source = Source::random(SEED ^ seed);
        let length = source.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| source.below(256) as u8).collect();
        property(&bytes);
    }
}

/// The files that fuzzers of text begin with.
fn texts(folder: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut all: Vec<_> = files
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_spec_that_is_changed_somewhere_is_read_or_refused() {
    let mut changed = 0;
    for (path, text) in texts("spec/rules").into_iter().chain(texts("spec/profiles")) {
        let name = path.strip_prefix("spec/").unwrap();
        let text = format!("# {name}\n{text}");
        // As they are, they make the spec that is built in.
        for seed in 0..3 {
            let other = mutated(&text, SEED + seed).expect("it is YAML");
            changed += u32::from(other != text);
            spec_text(&other);
        }
    }
    assert!(changed > 50, "only {changed} files were changed");
}

#[test]
fn seeds_are_read_and_may_be_changed_somewhere() {
    for (path, seed) in texts("fuzz/seeds/case_text") {
        let case: jitkey::case::Case = text::from_yaml(&seed).unwrap_or_else(|error| panic!("{path}: {error}"));
        case.validate().unwrap_or_else(|error| panic!("{path}: {error}"));
        (0..60).for_each(|n| case_text(&mutated(&seed, SEED + n).expect("it is YAML")));
    }
    for (_, seed) in texts("fuzz/seeds/protocol_line") {
        protocol_line(&seed);
    }
}

#[test]
fn a_case_that_is_changed_somewhere_round_trips() {
    for file in SPEC.cases.values() {
        let written = text::to_yaml(&file.case);
        for seed in 0..3 {
            case_text(&mutated(&written, SEED + seed).expect("it is YAML"));
        }
    }
}

#[test]
fn the_naive_model_knows_enough_to_speak() {
    let (mut known, mut hits) = (0, 0);
    for seed in 0..2_000 {
        let Ok(calls) = Calls::from_choices(&mut Source::random(seed)) else { continue };
        let case: jitkey::case::Case = text::from_yaml(&format!("{calls:?}")).unwrap();
        if let Some(verdicts) = naive::predict(&case) {
            known += 1;
            hits += verdicts.iter().filter(|verdict| **verdict == Verdict::HIT).count();
        }
    }
    assert!(known > 400 && hits > 400, "{known} cases, {hits} hits");
}

#[test]
fn explanations_are_of_pairs_that_can_be_repaired() {
    let pairs = (0..2_000).filter_map(|seed| RuledPair::from_choices(&mut Source::random(seed)).ok());
    let repaired = pairs.filter(|pair| !pair.repaired().is_empty()).count();
    assert!(repaired > 100, "only {repaired} pairs say something of the explanation");
}

/// What a runner says of a property that is wrong about every pair of a rule.
#[test]
fn a_pair_shrinks_to_its_simplest() {
    let version: Version = NEWEST.parse().unwrap();
    let generator = Generator::new(&SPEC, "jax.jit", &version, |_| true).unwrap();
    let profile = SPEC.profile("jax.jit", &version).unwrap();
    let mut runner = TestRunner::new_with_rng(
        Config { failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let outcome = runner.run(&strategy::pair_of(&generator, "weak-type/flip"), |pair| {
        let calls = predict(&pair.case, profile).unwrap();
        prop_assert_eq!(&calls[1].verdict, &Verdict::HIT);
        Ok(())
    });
    let Err(TestError::Fail(_, pair)) = outcome else { panic!("{outcome:?}") };
    let arguments: Vec<String> = pair.case.arguments().map(Value::to_string).collect();
    assert_eq!(arguments, ["f32[]", "~f32[]"]);
}

#[test]
fn a_context_surrounds_both_sides_alike() {
    let version: Version = NEWEST.parse().unwrap();
    let generator = Generator::new(&SPEC, "jax.jit", &version, |_| true).unwrap();
    let sides = [Value::Int(1.into()), Value::Float(1.0)];
    for position in ["dynamic", "static", "nested", "aux", "meta", "key"] {
        let mut runner = TestRunner::deterministic();
        runner
            .run(&strategy::context(&generator, position, &sides), |case| {
                let [first, second] = [0, 1].map(|i| text::to_yaml(case.calls().nth(i).unwrap()));
                prop_assert_ne!(&first, &second);
                // The first `1` that is a `1.0` on the other side is what was planted.
                let differs = first.lines().zip(second.lines()).filter(|(a, b)| a != b).count();
                prop_assert_eq!(differs, 1, "{}", first);
                Ok(())
            })
            .unwrap();
    }
    let nowhere = strategy::context(&generator, "body", &sides);
    assert!(TestRunner::deterministic().run(&nowhere, |_| Ok(())).is_err());
}

#[rstest]
fn every_rule_is_reached(#[values("jax.jit", "equinox.filter_jit", "flax.nnx.jit")] implementation: &str) {
    let version: Version = NEWEST.parse().unwrap();
    let generator = Generator::new(&SPEC, implementation, &version, |_| true).unwrap();
    let mut reach = Reach::default();
    let mut source = Source::random(SEED);
    for index in 0..generator.rules().len() * 12 {
        let plan = generator.plan(index, &mut source);
        let drawn = generator.pair(&plan, &mut source);
        reach.count(&plan, &drawn);
    }
    let silent: Vec<_> = generator.rules().filter(|rule| !reach.rules.contains_key(&rule.id)).collect();
    assert!(silent.is_empty(), "{silent:?}");
    assert!(reach.depths.len() >= 6 && reach.kinds.len() >= 25 && reach.planted.len() == 4, "{reach:?}");
}
