//! Reports in pieces: merged they are the whole, and what doesn't belong together is refused.

use jitkey::case::{Case, text};
use jitkey::check::{Shard, Summary};
use jitkey::report::json::{Part, Report};
use jitkey::report::merge::{MergeError, merge};
use jitkey::target::{Reference, Target};
use rstest::rstest;

use super::common::{Liar, NEWEST, SEED, SPEC, campaign, run};

const PAIRS: u64 = 2_000;

/// Takes weak arrays for strong ones.
fn weakness_ignored(case: &Case) -> Case {
    text::from_json(&text::to_json(case).replace('~', "")).unwrap()
}

/// The report of a shard of a campaign on the model, or on one that ignores weak types.
fn report(seed: u64, number: u64, of: u64, lies: bool) -> (String, Report) {
    let mut campaign = campaign("jax.jit", NEWEST, PAIRS, |rule| rule.family() == "weak-type");
    campaign.seed = seed;
    campaign.shard = Shard { number, of };
    let reference = Reference::new(&SPEC, "jax.jit", NEWEST).unwrap();
    let about = reference.about().clone();
    let summary = if lies { run(&campaign, Liar::new("jax.jit", weakness_ignored)) } else { run(&campaign, reference) };
    let part = Part::new(seed, PAIRS, vec!["weak-type".to_owned()], campaign.shard);
    let name = format!("reference:jax.jit@{NEWEST}");
    (format!("{seed}-{number}.json"), Report::new(name, about, &SPEC.fingerprint, part, summary))
}

fn merged(reports: Vec<(String, Report)>) -> Report {
    merge(reports).unwrap().unwrap()
}

/// Everything but the smallest cases, which each part looks for by itself.
fn counts(summary: &Summary) -> Summary {
    Summary { findings: Vec::new(), more_findings: 0, ..summary.clone() }
}

#[rstest]
fn the_shards_are_the_whole(#[values(false, true)] lies: bool) {
    let (_, whole) = report(SEED, 1, 1, lies);
    let parts = merged((1..=3).rev().map(|number| report(SEED, number, 3, lies)).collect());
    assert_eq!(counts(&parts.summary), counts(&whole.summary));
    assert_eq!(parts.pairs, whole.pairs);
    assert_eq!(parts.conforms, !lies);
    let disagreements = |report: &Report| {
        let shown: usize = report.summary.findings.iter().map(|finding| finding.count).sum();
        shown + report.summary.more_findings
    };
    assert_eq!(disagreements(&parts), disagreements(&whole));
    assert_eq!(parts.campaigns[0].shards, [1, 2, 3]);
    assert!(parts.campaigns[0].missing().is_empty());
}

#[test]
fn merging_twice_is_merging_once() {
    let [one, two, three] = [1, 2, 3].map(|number| report(SEED, number, 3, true));
    let first = ("first.json".to_owned(), merged(vec![one.clone(), two.clone()]));
    assert_eq!(merged(vec![first, three.clone()]), merged(vec![one, two, three]));
}

#[test]
fn seeds_are_added_and_missing_shards_are_known() {
    let both = merged(vec![report(1, 1, 1, false), report(2, 2, 3, false)]);
    assert_eq!(both.seeds(), "seed 0x1, seed 0x2 (1 of 3 shards: 2)");
    assert_eq!(both.campaigns[1].missing(), [1, 3]);
    assert_eq!(both.pairs, PAIRS + PAIRS / 3 + 1);
}

#[test]
fn a_report_can_be_read_back() {
    let (_, report) = report(SEED, 1, 1, true);
    assert!(!report.summary.findings.is_empty());
    assert_eq!(Report::from_text(&report.to_text()).unwrap(), report);
}

#[rstest]
#[case::target(|report: &mut Report| report.name = "cmd:./mine".to_owned(), "the target is reference:jax.jit@0.12.0.1 in the first and cmd:./mine in the second")]
#[case::version(|report: &mut Report| report.target.version = "0.6.2".to_owned(), "the target's version is 0.12.0.1")]
#[case::spec(|report: &mut Report| report.spec = "0".to_owned(), "the spec's fingerprint is")]
#[case::jitkey(|report: &mut Report| report.jitkey = "9.9".to_owned(), "the version of jitkey is")]
#[case::rules(|report: &mut Report| report.campaigns[0].rules.clear(), "the choice of rules is weak-type in the first and all")]
fn different_things_are_refused(#[case] change: fn(&mut Report), #[case] reason: &str) {
    let [one, mut other] = [1, 2].map(|number| report(SEED, number, 2, false));
    change(&mut other.1);
    let error = merge([one, other]).unwrap_err();
    assert!(matches!(error, MergeError::Different { .. }));
    assert!(error.to_string().contains(reason), "{error}");
}

#[rstest]
#[case::the_same_shard((2, 3), (2, 3), "both have shard 2 of 3 of seed 0x5eed")]
#[case::two_divisions((1, 2), (2, 3), "both have pairs of seed 0x5eed")]
fn no_pair_is_counted_twice(#[case] one: (u64, u64), #[case] other: (u64, u64), #[case] reason: &str) {
    let error = merge([one, other].map(|(number, of)| report(SEED, number, of, false))).unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}
