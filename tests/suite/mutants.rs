//! Every mutant dies, soon, and the unmutated model gives no finding.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jitkey::case::text;
use jitkey::check::{Fates, Hunt, Kill, differs, hunt};
use jitkey::generate::reductions;
use jitkey::report::mutants::text as table;
use jitkey::report::text::Style;
use jitkey::spec::{Mutant, Spec, Unseen, Version};
use jitkey::target::Mutated;
use rstest::rstest;

use super::common::{SEED, SPEC};

const HUNT: Hunt<'static> = Hunt { version: None, seed: SEED, most: 100_000, control: 10_240, jobs: 2 };

/// What came of all mutants of the spec.
static FATES: LazyLock<Fates<'static>> =
    LazyLock::new(|| hunt(&SPEC, &SPEC.mutants.iter().collect::<Vec<_>>(), HUNT).unwrap());

#[test]
fn all_die() {
    let mutants: Vec<&Mutant> = SPEC.mutants.iter().collect();
    assert!(mutants.len() >= 80, "{} mutants", mutants.len());
    let ids: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.id.as_str()).collect();
    assert_eq!(ids.len(), mutants.len(), "two mutants have one id");
    let fates = &*FATES;
    let alive: Vec<_> = fates.fates.iter().filter(|fate| fate.kill.is_none()).map(|fate| &fate.mutant.id).collect();
    assert!(alive.is_empty(), "{alive:?} survive");
    let mut pairs: Vec<u64> = fates.fates.iter().map(|fate| fate.kill.as_ref().unwrap().pairs).collect();
    pairs.sort_unstable();
    assert!(pairs[pairs.len() / 2] < 1_000, "half of them need more than {} pairs", pairs[pairs.len() / 2]);
    assert_eq!(fates.control_differs, Vec::<String>::new());
    assert!(fates.control >= 10_240);
}

#[test]
fn the_smallest_cases_have_no_part_that_can_be_left_out() {
    let mut tried = 0;
    for fate in &FATES.fates {
        let Kill { finding, smallest, .. } = fate.kill.as_ref().unwrap();
        let version: Version = finding.version.parse().unwrap();
        let profile = SPEC.profile(&finding.implementation, &version).unwrap();
        let target = Mutated::new(fate.mutant, profile, &finding.version).unwrap();
        assert!(differs(&target, profile, smallest), "{}", fate.mutant.id);
        for reduction in reductions(smallest) {
            tried += 1;
            let (less, all) = (text::to_yaml(&reduction.case), text::to_yaml(smallest));
            let id = &fate.mutant.id;
            assert!(!differs(&target, profile, &reduction.case), "{id}: less than\n{all}shows it, too:\n{less}");
        }
    }
    assert!(tried > 1_000, "only {tried} parts were tried");
}

/// Without an entry of a profile something is otherwise, and a pair or a written case shows it, or the spec says why none can.
/// Nothing that a lax.map is made of is ever found again, and what nnx.jit is follows jax.jit: theirs aren't hunted.
#[rstest]
#[case(&["jax.jit", "equinox.filter_jit"], 64_000)]
#[case(&["lax.scan", "lax.while_loop", "lax.fori_loop", "lax.cond", "lax.switch"], 16_000)]
fn every_entry_of_a_profile_counts(#[case] implementations: &[&str], #[case] most: u64) {
    for implementation in implementations {
        let mutants = Mutant::of_entries(SPEC.newest_profile(implementation).unwrap()).unwrap();
        let mutants: Vec<_> = mutants.iter().collect();
        // What a written case shows needn't meet as many as what is left.
        let fates = hunt(&SPEC, &mutants, Hunt { most: HUNT.control, ..HUNT }).unwrap().fates;
        let left: Vec<_> = fates.iter().filter(|fate| !fate.is_settled()).map(|fate| fate.mutant).collect();
        let found = hunt(&SPEC, &left, Hunt { most, control: 0, ..HUNT }).unwrap().fates;
        let alive: Vec<_> = found.iter().filter(|fate| !fate.is_settled()).map(|fate| &fate.mutant.id).collect();
        assert!(alive.is_empty(), "nothing shows {alive:?}, and spec/mutants.yaml doesn't say why");
        let both = fates.iter().filter(|fate| fate.is_found() && fate.unseen.is_some());
        let both: Vec<_> = both.map(|fate| &fate.mutant.id).collect();
        assert!(both.is_empty(), "spec/mutants.yaml says that nothing shows {both:?}");
    }
}

/// An older profile has entries of its own, and is hunted by what the rules say of its version.
#[test]
fn an_older_profile_is_hunted_at_its_version() {
    let version: Version = "0.6.2".parse().unwrap();
    let mutants = Mutant::of_entries(SPEC.profile("jax.jit", &version).unwrap()).unwrap();
    let mutant = mutants.iter().find(|mutant| mutant.id == "jax.jit/static_keywords_as_written").unwrap();
    let found = |how| hunt(&SPEC, &[mutant], how).unwrap().fates.remove(0).kill.map(|kill| kill.finding.version);
    let few = Hunt { most: 10_000, control: 0, ..HUNT };
    assert_eq!(found(Hunt { version: Some(&version), ..few }).as_deref(), Some("0.6.2"));
    assert_eq!(found(few), None, "the newest says nothing of it");
}

/// A pattern of entries that there aren't says nothing.
#[test]
fn every_entry_that_is_not_seen_is_there() {
    let profiles = SPEC.implementations().into_iter().map(|name| SPEC.newest_profile(name).unwrap());
    let entries: Vec<_> = profiles.flat_map(|profile| Mutant::of_entries(profile).unwrap()).collect();
    let alone = |pattern: &String| Unseen { entries: vec![pattern.clone()], because: String::new() };
    let is_idle = |pattern: &&String| !entries.iter().any(|mutant| alone(pattern).covers(&mutant.id));
    let idle: Vec<_> = SPEC.unseen.iter().flat_map(|unseen| &unseen.entries).filter(is_idle).collect();
    assert!(idle.is_empty(), "{idle:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mutants: Vec<&Mutant> =
        SPEC.mutants.iter().filter(|mutant| mutant.id.starts_with("weak-type/")).take(6).collect();
    let with = |jobs| table(&hunt(&SPEC, &mutants, Hunt { jobs, control: 100, ..HUNT }).unwrap(), None, Style::PLAIN);
    assert_eq!(with(1), with(3));
}

#[test]
fn a_survivor_is_named() {
    let mutants: Vec<&Mutant> = SPEC.mutants.iter().filter(|mutant| mutant.id.starts_with("weak-type/")).collect();
    let fates = hunt(&SPEC, &mutants, Hunt { most: 1, control: 0, ..HUNT }).unwrap();
    let shown = table(&fates, None, Style::PLAIN);
    assert!(shown.contains("survives") && shown.contains(&format!("of {} survive", mutants.len())), "{shown}");
}

#[test]
fn an_edit_that_changes_nothing_is_an_error() {
    let spec = Spec::embedded();
    let mut mutant = spec.mutants[0].clone();
    mutant.profile[0].at = "tables/*/leav".to_owned();
    let error = hunt(&spec, &[&mutant], HUNT).unwrap_err();
    assert!(error.contains("nothing is changed at `tables/*/leav`"), "{error}");
}
