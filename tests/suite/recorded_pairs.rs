//! The pairs that rules make, as programs under the recorder: each call is written down as what the rule made it of.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use jitkey::explain::{Explained, Recording};
use jitkey::target::environment;
use rstest::rstest;
use serde_json::Value as Json;

use super::common::{NEWEST, SPEC};

/// The rules whose calls a recording says in other words, of which implementations these pairs show it, and why.
const SAID_OTHERWISE: [(&str, &[&str], &str); 18] = [
    (
        "static-hashing/equal-but-other-hash-in-aux",
        &["jax.jit", "equinox.filter_jit"],
        "an object whose == leaves out what it hashes is told apart by all that it holds",
    ),
    (
        "array-avals/smallest-numpy-scalar",
        &["jax.jit", "equinox.filter_jit"],
        "a scalar of two bits is written as an array",
    ),
    ("array-avals/foreign-scalar-ahead", &["jax.jit"], "a scalar that jax has no dtype for is written as an array"),
    (
        "call-form/compiler-options-shapes-of-a-module",
        &["equinox.filter_jit"],
        "what eqx.filter_eval_shape traces of a jitted function is no call of it",
    ),
    (
        "together/out-shardings-leaf-by-leaf",
        &["jax.jit"],
        "out_shardings of nothing but None are written as none, which the fast path tells apart",
    ),
    ("persistent-cache/layout", &["jax.jit", "equinox.filter_jit"], "an array's own layout has no word"),
    ("placement/layout", &["jax.jit", "equinox.filter_jit"], "an array's own layout has no word"),
    (
        "placement/out-shardings-divide",
        &["jax.jit"],
        "what jax raises as it traces, once the body has run, is taken for the body's own",
    ),
    (
        "placement/out-shardings-of-leaves",
        &["jax.jit"],
        "what jax raises as it traces, once the body has run, is taken for the body's own",
    ),
    (
        "placement/null-out-shardings",
        &["jax.jit"],
        "out_shardings of nothing but None are written as none, which the fast path tells apart",
    ),
    (
        "pytree-structure/aux-hash-differs",
        &["jax.jit", "equinox.filter_jit"],
        "objects are compared with those of their hash alone, so that equal ones of two hashes are two values",
    ),
    (
        "pytree-structure/partly-ordered-keys",
        &["jax.jit", "equinox.filter_jit"],
        "objects as keys of a dict have no order",
    ),
    (
        "static-hashing/first-that-does-not-hash",
        &["jax.jit"],
        "an object whose __hash__ raises is written as one that hashes",
    ),
    (
        "static-hashing/first-leaf-that-does-not-hash",
        &["equinox.filter_jit"],
        "an object whose __hash__ raises is written as one that hashes",
    ),
    (
        "static-hashing/mutated-hash",
        &["jax.jit"],
        "what is changed in its place was something else in the calls before",
    ),
    (
        "static-hashing/subclass-of-an-equal-class-below-the-top",
        &["jax.jit", "equinox.filter_jit"],
        "objects are compared with those of their class alone",
    ),
    (
        "sequences/changed-aux-data",
        &["jax.jit", "equinox.filter_jit"],
        "what is changed in its place was something else in the calls before",
    ),
    (
        "sequences/changed-static-field",
        &["jax.jit", "equinox.filter_jit"],
        "what is changed in its place was something else in the calls before",
    ),
];

/// Why a call has no words at all.
const UNSAID: [&str; 2] = ["recording what surrounds the call", "while the arguments were looked at"];

/// What scripts end with that do what they say: a stale hit is one; which flags there are, with which values, says the target, of
/// which there is none where pairs are only printed; and a Module of equinox sorts the dicts that it is given as it is made, before
/// there is a call to raise.
const KNOWN_ENDS: [&str; 5] = [
    "the hit is stale",
    "value must be",
    "KeyError('jax_",
    "Comparator raised exception while sorting pytree dictionary keys",
    "'<' not supported between instances of",
];

/// The value of a flag of which no target has said the values; some flags take it for what they are already.
const ANY_VALUE: &str = "\"other\")";

fn jitkey(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jitkey")).args(arguments).env("JAX_PLATFORMS", "cpu").output().unwrap()
}

#[rstest]
fn what_rules_make_is_recorded(#[values("jax.jit", "equinox.filter_jit")] implementation: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (cases, scripts, recording) = (file("cases.yaml"), file("scripts"), file("recording.jsonl"));
    let listed: Vec<_> = SAID_OTHERWISE.iter().filter(|(_, of, _)| of.contains(&implementation)).collect();
    // Not each pair of a rule that is listed shows what it is listed for.
    let of_listed = listed.iter().flat_map(|(rule, ..)| ["--rules", *rule]);
    let drawn = [vec!["650"], ["130"].into_iter().chain(of_listed).collect()];
    let (words, _) =
        environment::module("jitkey", "equinox.filter_jit", Some(NEWEST), None, &mut |line: &str| eprintln!("{line}"))
            .unwrap_or_else(|error| panic!("{error}"));
    // Some rules say something else of an older Python.
    let says = ["-c", "import platform; print(platform.python_version())"];
    let python = Command::new(&words[0]).args(says).output().unwrap().stdout;
    let of = format!("{implementation}@{NEWEST}+python{}", String::from_utf8(python).unwrap().trim());
    for pairs in drawn {
        let made = jitkey(&[&["generate", &of, "--seed", "11", "--pairs"], &pairs[..]].concat());
        fs::write(&cases, made.stdout).unwrap();
        jitkey(&["repro", &cases, "-o", &scripts]);
    }
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/scripts_together.py");
    let recorded = jitkey(&["record", "--output", &recording, "--", &words[0], program, &scripts]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let printed = String::from_utf8(recorded.stdout).unwrap();
    let ended: Vec<Json> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(ended.len() > 600, "{} scripts", ended.len());
    let has_any_value = |line: &Json| {
        let script = PathBuf::from(&scripts).join(line["script"].as_str().unwrap());
        fs::read_to_string(script).unwrap().contains(ANY_VALUE)
    };
    let is_known = |line: &Json| {
        let ends_so = |it: &str| KNOWN_ENDS.iter().any(|known| it.contains(known));
        line["ended"].as_str().is_none_or(ends_so) || has_any_value(line)
    };
    let wrong: Vec<_> = ended.iter().filter(|line| !is_known(line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let explained = Explained::of(Recording::read(&fs::read_to_string(recording).unwrap()).unwrap(), &SPEC).unwrap();
    let mut seen = BTreeSet::new();
    let mut otherwise = Vec::new();
    for call in explained.calls.iter().filter(|call| !call.is_predicted()) {
        let from = call.from.as_deref().unwrap_or_default();
        let is_unsaid = call.unpredicted.as_ref().is_some_and(|why| UNSAID.iter().any(|known| why.contains(known)));
        match listed.iter().find(|(rule, ..)| from.contains(&rule.replace('/', "-"))) {
            Some((rule, ..)) => drop(seen.insert(*rule)),
            None if is_unsaid => {}
            None => otherwise.push((from, &call.predicted, &call.observed, &call.unpredicted)),
        }
    }
    assert!(otherwise.is_empty(), "{otherwise:#?}");
    let as_it_is: Vec<_> = listed.iter().map(|(rule, ..)| *rule).filter(|rule| !seen.contains(rule)).collect();
    assert!(as_it_is.is_empty(), "a recording says what these are, and they are listed: {as_it_is:?}");
}
