//! The pairs that rules make, as programs under the recorder: each call is written down as what the rule made it of.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use jitkey::explain::{Explained, Recording};
use jitkey::target::environment;
use rstest::rstest;
use serde_json::Value as Json;

use super::common::{NEWEST, SPEC};

/// The rules whose calls a recording says in other words, and why.
const SAID_OTHERWISE: [(&str, &str); 14] = [
    ("array-avals-smallest-numpy-scalar", "a scalar of two bits is written as an array"),
    ("array-avals-foreign-scalar-ahead", "a scalar that jax has no dtype for is written as an array"),
    (
        "call-form-compiler-options-shapes-of-a-module",
        "what eqx.filter_eval_shape traces of a jitted function is no call of it",
    ),
    ("persistent-cache-layout", "an array's own layout has no word"),
    ("placement-layout", "an array's own layout has no word"),
    ("placement-out-shardings-divide", "what is raised once the body was traced is taken for the body's own"),
    ("pytree-structure-aux-hash-differs", "an object is known by its hash"),
    ("pytree-structure-aux-treedef-and-other", "a treedef is an object like any other"),
    ("pytree-structure-treedef-of-a-redefined-dataclass", "a treedef is an object like any other"),
    ("pytree-structure-nan-key-kept", "a nan is another one each time"),
    ("pytree-structure-partly-ordered-keys", "objects as keys of a dict have no order"),
    ("sequences-changed-aux-data", "what is changed in its place was something else in the calls before"),
    ("sequences-changed-static-field", "what is changed in its place was something else in the calls before"),
    ("static-hashing-namedtuple-and-tuple-below-the-top", "a subclass of tuple is an object like any other"),
];

/// Why a call has no words at all.
const UNSAID: [&str; 3] =
    ["recording what surrounds the call", "while the arguments were looked at", "there is no class `Metres"];

fn jitkey(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jitkey")).args(arguments).env("JAX_PLATFORMS", "cpu").output().unwrap()
}

#[rstest]
fn what_rules_make_is_recorded(#[values("jax.jit", "equinox.filter_jit")] implementation: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (cases, scripts, recording) = (file("cases.yaml"), file("scripts"), file("recording.jsonl"));
    let made = jitkey(&["generate", implementation, "--pairs", "500", "--seed", "11"]);
    fs::write(&cases, made.stdout).unwrap();
    jitkey(&["repro", &cases, "-o", &scripts]);
    let (words, _) =
        environment::module("jitkey", "equinox.filter_jit", Some(NEWEST), None, &mut |line: &str| eprintln!("{line}"))
            .unwrap_or_else(|error| panic!("{error}"));
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/scripts_together.py");
    let recorded = jitkey(&["record", "--output", &recording, "--", &words[0], program, &scripts]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let printed = String::from_utf8(recorded.stdout).unwrap();
    let ended: Vec<Json> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(ended.len() > 400, "{} scripts", ended.len());
    // Which values a flag can have says the target, of which there is none where pairs are only printed.
    let is_known = |line: &Json| {
        line["ended"].as_str().is_none_or(|ended| ended.starts_with("the hit is stale"))
            || fs::read_to_string(folder.path().join("scripts").join(line["script"].as_str().unwrap()))
                .is_ok_and(|script| script.contains("flag(\"jax_"))
    };
    let wrong: Vec<_> = ended.iter().filter(|line| !is_known(line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let explained = Explained::of(Recording::read(&fs::read_to_string(recording).unwrap()).unwrap(), &SPEC).unwrap();
    let otherwise = explained.calls.iter().filter(|call| {
        let from = call.from.as_deref().unwrap_or_default();
        let is_known = SAID_OTHERWISE.iter().any(|(rule, _)| from.contains(rule));
        let is_unsaid = call.unpredicted.as_ref().is_some_and(|why| UNSAID.iter().any(|known| why.contains(known)));
        !call.is_predicted() && !is_known && !is_unsaid
    });
    let otherwise: Vec<_> = otherwise
        .map(|call| (call.from.clone(), call.predicted.clone(), call.observed.clone(), call.unpredicted.clone()))
        .collect();
    assert!(otherwise.is_empty(), "{otherwise:#?}");
}

/// A rule that is recorded as it is has no business in the list.
#[test]
fn what_is_said_otherwise_is_of_a_rule() {
    let ids: BTreeSet<_> = SPEC.rules.keys().map(|id| id.to_string().replace('/', "-")).collect();
    let unknown: Vec<_> = SAID_OTHERWISE.iter().filter(|(rule, _)| !ids.contains(*rule)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
