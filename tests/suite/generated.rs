//! Generated pairs: rule and model agree, every rule is reached, and a seed reproduces.

use std::collections::BTreeSet;

use jitkey::case::text;
use jitkey::check::Campaign;
use jitkey::generate::Source;
use jitkey::model::behaviour;
use jitkey::spec::Version;
use jitkey::target::{Reference, Target};
use rstest::rstest;

use super::common::{NEWEST, SEED, SPEC, campaign, campaign_at, run};

/// Each rule of an implementation is the first in as many, whether it has ten rules or a thousand.
const PAIRS_A_RULE: u64 = 9;

fn pairs_of(campaign: &Campaign<'_>) -> u64 {
    campaign.generator.rules().len() as u64 * PAIRS_A_RULE
}

#[rstest]
fn rule_and_model_agree(
    #[values(
        "jax.jit",
        "equinox.filter_jit",
        "flax.nnx.jit",
        "lax.while_loop",
        "lax.scan",
        "lax.fori_loop",
        "lax.cond",
        "lax.switch",
        "lax.map"
    )]
    implementation: &str,
    #[values("0.12.0.1", "0.6.2", "0.4.38", "0.4.35", "0.4.30")] version: &str,
) {
    agree(campaign(implementation, version, 0, |_| true), implementation, version);
}

/// What older Pythons decide otherwise is in the rules as it is in the profiles.
#[rstest]
fn rule_and_model_agree_on_an_older_python(
    #[values("jax.jit", "equinox.filter_jit", "flax.nnx.jit")] implementation: &str,
    #[values(("0.12.0.1", "3.12.1"), ("0.6.2", "3.12.1"), ("0.6.2", "3.10.13"))] version: (&str, &str),
) {
    let (version, python) = version;
    let version = version.parse::<Version>().unwrap().on_python(python.parse().unwrap());
    let campaign = campaign_at(implementation, &version, 0, |_| true);
    let planned = pairs_of(&campaign);
    let mut source = Source::random(SEED);
    let mut pairs = 0;
    for index in 0..usize::try_from(planned).unwrap() {
        let plan = campaign.generator.plan(index, &mut source);
        let Ok(pair) = campaign.generator.pair(&plan, &mut source) else { continue };
        let Ok(model) = behaviour(&pair.case, campaign.profile) else { continue };
        // Some rules leave it to the model.
        if !pair.expected.calls.is_empty() {
            assert_eq!(pair.expected.calls, model, "{}", text::to_yaml(&pair.case));
        }
        pairs += 1;
    }
    assert!(pairs * 10 > planned * 9, "{pairs} pairs");
}

/// What `check --trace-only` makes.
#[rstest]
fn rule_and_model_agree_without_a_run(
    #[values("jax.jit", "equinox.filter_jit")] implementation: &str,
    #[values(
        "0.12.0.1", "0.11.2", "0.10.2", "0.9.2", "0.9.0", "0.8.3", "0.7.2", "0.6.2", "0.5.3", "0.4.38", "0.4.36",
        "0.4.35", "0.4.31", "0.4.30"
    )]
    version: &str,
) {
    let mut campaign = campaign(implementation, version, 0, |_| true);
    campaign.generator = campaign.generator.tracing_only();
    agree(campaign, implementation, version);
}

fn agree(mut campaign: Campaign<'_>, implementation: &str, version: &str) {
    campaign.pairs = pairs_of(&campaign);
    let summary = run(&campaign, Reference::new(&SPEC, implementation, version).unwrap());
    let shown: Vec<_> =
        summary.findings.iter().map(|finding| jitkey::report::text::finding(1, finding, None, PLAIN)).collect();
    assert!(summary.conforms(), "{:?}\n{}", summary.failures, shown.join("\n"));
    let silent: Vec<_> = summary.rules.iter().filter(|(_, count)| count.pairs == 0).map(|(id, _)| id).collect();
    assert!(silent.is_empty(), "no pair of {silent:?}");
    assert!(summary.unsupported.is_empty(), "{:?}", summary.unsupported);
}

const PLAIN: jitkey::report::text::Style = jitkey::report::text::Style::PLAIN;

#[rstest]
fn the_spec_is_large_enough() {
    assert!(SPEC.rules.len() >= 120, "{} rules", SPEC.rules.len());
    let laws = SPEC.rules.values().filter(|rule| rule.pair.is_some() || !rule.forall.is_empty()).count();
    assert!(laws * 10 >= SPEC.rules.len() * 8, "{laws} of {} rules are laws", SPEC.rules.len());
}

#[rstest]
fn every_position_is_reached(
    #[values("jax.jit", "equinox.filter_jit", "lax.while_loop", "lax.cond")] implementation: &str,
) {
    let campaign = campaign(implementation, NEWEST, 0, |_| true);
    let mut reached = BTreeSet::new();
    for index in 0..3000 {
        let mut source = Source::random(SEED + index);
        let plan = campaign.generator.plan(index as usize, &mut source);
        if let Ok(pair) = campaign.generator.pair(&plan, &mut source) {
            reached.extend(pair.positions);
        }
    }
    let offered: BTreeSet<_> = campaign.profile.positions.iter().cloned().collect();
    assert_eq!(reached, offered);
}

#[test]
fn few_pairs_are_of_every_large_family() {
    let campaign = campaign("jax.jit", NEWEST, 0, |_| true);
    let planned = |index| campaign.generator.plan(index, &mut Source::random(SEED)).rules[0];
    let all: Vec<_> = campaign.generator.rules().collect();
    let few: BTreeSet<_> = (0..all.len() / 10).map(|index| planned(index).family()).collect();
    for family in all.iter().map(|rule| rule.family()) {
        let large = all.iter().filter(|rule| rule.family() == family).count() >= 20;
        assert!(!large || few.contains(family), "{family} isn't among the first tenth");
    }
    // And as many as there are rules are one of each, wherever they begin.
    let ids: BTreeSet<_> = (7..7 + all.len()).map(|index| planned(index).id.as_str()).collect();
    assert_eq!(ids.len(), all.len());
}

#[test]
fn a_seed_reproduces() {
    let campaign = campaign("jax.jit", NEWEST, 0, |_| true);
    for index in 0..200 {
        let make = |mut source: Source| {
            let plan = campaign.generator.plan(index, &mut source);
            let before = source.choices().len();
            let pair = campaign.generator.pair(&plan, &mut source).map(|pair| text::to_yaml(&pair.case));
            (plan, pair, source.into_choices().split_off(before))
        };
        let (plan, first, choices) = make(Source::random(index as u64));
        assert_eq!(make(Source::random(index as u64)).1, first);
        let replayed =
            campaign.generator.pair(&plan, &mut Source::playback(choices)).map(|pair| text::to_yaml(&pair.case));
        assert_eq!(replayed, first, "the choices are the case");
    }
}

#[test]
fn parts_of_a_campaign_make_the_whole() {
    let whole = run(&campaign("jax.jit", NEWEST, 640, |_| true), Reference::new(&SPEC, "jax.jit", NEWEST).unwrap());
    let parts: u64 = (1..=3)
        .map(|number| {
            let mut part = campaign("jax.jit", NEWEST, 640, |_| true);
            part.shard = jitkey::check::Shard { number, of: 3 };
            run(&part, Reference::new(&SPEC, "jax.jit", NEWEST).unwrap()).pairs()
        })
        .sum();
    assert_eq!(whole.pairs(), parts);
}

#[test]
fn the_reference_says_what_it_is() {
    let reference = Reference::new(&SPEC, "jax.jit", NEWEST).unwrap();
    assert_eq!(reference.about().implementation, "jax.jit");
}
