//! The subprocess target: whatever a process does, it is an observation of the case that made it do so.

use std::time::Duration;

use jitkey::case::{Case, text};
use jitkey::spec::Spec;
use jitkey::target::{CallObservation, Limits, Observation, Subprocess, Target, TargetError, TargetName, open};
use rstest::rstest;

const LIMITS: Limits = Limits { start: Duration::from_secs(20), case: Duration::from_secs(3), crashes: Some(3) };

fn command(fault: &str) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/faulty.py");
    ["python3", script, fault].map(str::to_owned).into()
}

/// Forty cases; the eighth and the thirtieth are poison.
fn cases() -> Vec<Case> {
    (0..40)
        .map(|i| {
            let word = if i == 7 || i == 29 { "poison" } else { "food" };
            text::from_yaml(&format!("steps: [{{call: {{args: [{{str: {word}}}]}}}}]")).unwrap()
        })
        .collect()
}

fn observed(fault: &str) -> Vec<Observation> {
    let mut target = Subprocess::start(command(fault), Vec::new(), LIMITS).expect("python3 runs it");
    target.observe(&cases()).unwrap()
}

#[rstest]
#[case::crash("dies", |seen: &Observation| matches!(seen, Observation::Crashed(how) if how.contains("Segmentation")))]
#[case::hang("hangs", |seen: &Observation| seen.silence().is_some_and(|why| why == "no answer within 3 s"))]
#[case::closed("closes", |seen: &Observation| matches!(seen, Observation::Crashed(how) if how.contains("has closed its output")))]
#[case::garbled("babbles", |seen: &Observation| matches!(seen, Observation::Failed(why) if why.contains("no JSON")))]
#[case::flooded("floods", |seen: &Observation| matches!(seen, Observation::Failed(why) if why.contains("{}{}{}{}")))]
#[case::wrong_id("wrong-id", |seen: &Observation| matches!(seen, Observation::Failed(why) if why.contains("12345")))]
#[case::unsupported("refuses", |seen: &Observation| *seen == Observation::Unsupported("poison".into()))]
#[case::failed("fails", |seen: &Observation| matches!(seen, Observation::Failed(why) if why.contains("Traceback")))]
fn a_fault_is_the_culprits(#[case] fault: &str, #[case] is_it: fn(&Observation) -> bool) {
    for (i, seen) in observed(fault).iter().enumerate() {
        if i == 7 || i == 29 {
            assert!(is_it(seen), "case {i}: {seen:?}");
        } else {
            assert!(matches!(seen, Observation::Calls(calls) if calls.len() == 1), "case {i}: {seen:?}");
        }
    }
}

#[rstest]
#[case("dies-at-start", "no accelerator found")]
#[case("other-protocol", "it speaks protocol 99")]
#[case("chatty", "Hello, I am a library")]
fn a_bad_start_is_explained(#[case] fault: &str, #[case] reason: &str) {
    let error = Subprocess::start(command(fault), Vec::new(), LIMITS).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[test]
fn a_case_that_fills_caches_may_take_longer() {
    let limits = Limits { case: Duration::from_secs(1), ..LIMITS };
    let fills = "steps: [{fill: {calls: 1000, call: {args: [{str: poison}]}}}, {call: {args: [1]}}]";
    let mut target = Subprocess::start(command("hangs"), Vec::new(), limits).unwrap();
    let seen = target.observe(&[text::from_yaml(fills).unwrap()]).unwrap();
    assert_eq!(seen[0].silence().as_deref(), Some("no answer within 3 s"));
}

#[test]
fn silence_at_the_start_has_a_limit() {
    let limits = Limits { start: Duration::from_secs(1), ..LIMITS };
    let error = Subprocess::start(command("mute"), Vec::new(), limits).unwrap_err().to_string();
    assert!(error.contains("nothing came within 1 s"), "{error}");
}

/// What is more than a pipe holds doesn't wait for one that reads no further.
#[test]
fn a_target_that_reads_nothing_has_a_limit() {
    let limits = Limits { case: Duration::from_secs(1), ..LIMITS };
    let long = |word: &str| format!("steps: [{{call: {{args: [{{str: {}}}]}}}}]", word.repeat(20_000));
    let cases = ["poison", "food", "food", "food"].map(|word| text::from_yaml(&long(word)).unwrap());
    let seen = Subprocess::start(command("hangs"), Vec::new(), limits).unwrap().observe(&cases).unwrap();
    assert_eq!(seen[0].silence().as_deref(), Some("no answer within 1 s"));
    assert!(seen[1..].iter().all(|seen| matches!(seen, Observation::Calls(_))), "{seen:?}");
}

/// What comes back once is no observation of any case, and is counted.
#[test]
fn a_target_that_died_was_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut words = command("dies-once");
    words.push(folder.path().join("died").to_string_lossy().into_owned());
    let mut target = Subprocess::start(words, Vec::new(), LIMITS).unwrap();
    let seen = target.observe(&cases()).unwrap();
    assert!(seen.iter().all(|seen| matches!(seen, Observation::Calls(_))), "{seen:?}");
    assert_eq!(target.restarts(), 1);
}

#[test]
fn a_target_that_always_dies_is_given_up() {
    let mut target = Subprocess::start(command("always-dies"), Vec::new(), LIMITS).unwrap();
    let error = target.observe(&cases()).unwrap_err();
    assert!(matches!(error, TargetError::KeepsCrashing { times: 3, .. }));
    assert!(error.to_string().contains(" ended (") && error.to_string().contains(") 3 times in a row"), "{error}");
}

#[test]
fn a_target_that_always_babbles_is_given_up() {
    let error =
        Subprocess::start(command("always-babbles"), Vec::new(), LIMITS).unwrap().observe(&cases()).unwrap_err();
    assert!(error.to_string().contains("}{ no JSON) 3 times in a row"), "{error}");
}

#[test]
fn a_target_that_always_dies_is_observed_where_each_case_stands_alone() {
    let limits = Limits { crashes: None, ..LIMITS };
    let mut target = Subprocess::start(command("always-dies"), Vec::new(), limits).unwrap();
    let seen = target.observe(&cases()[..5]).unwrap();
    assert!(seen.iter().all(|seen| matches!(seen, Observation::Crashed(_))), "{seen:?}");
}

#[test]
fn an_unknown_version_is_refused() {
    let spec = Spec::embedded();
    let name = TargetName::Command(command("unknown-version"));
    let error = open(&spec, &name, None, LIMITS, &mut |_: &str| {}).err().unwrap().to_string();
    assert!(error.contains("no profile of jax.jit 0.0.1"), "{error}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = Subprocess::start(vec!["./no-such-program".into()], Vec::new(), LIMITS).unwrap_err().to_string();
    assert!(error.contains("`./no-such-program` could not be started"), "{error}");
}

#[test]
fn an_error_is_the_verdict_whatever_was_missed() {
    let call: CallObservation =
        text::from_json(r#"{"missed": ["dispatch"], "error": {"class": "TypeError"}}"#).unwrap();
    assert_eq!(call.verdict().to_string(), "error(TypeError)");
}
