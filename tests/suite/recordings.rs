//! Programs that users wrote, recorded and explained: the four problems, and what mends them.

use std::process::Command;

use jitkey::explain::{Explained, ExplainedCall, Recording};
use jitkey::report::explain::text;
use jitkey::report::text::Style;
use jitkey::target::environment;
use rstest::rstest;

use super::common::{NEWEST, SPEC};

/// Runs a program of tests/programs under jax `version`, alone and recorded; it has to print the same.
fn record(program: &str, version: &str) -> Explained {
    let script = format!("tests/programs/{program}.py");
    let (words, _) =
        environment::module("jitkey", "equinox.filter_jit", Some(version), None, &mut |line: &str| eprintln!("{line}"))
            .unwrap_or_else(|error| panic!("{error}"));
    let python = &words[0];
    let file = tempfile::NamedTempFile::new().unwrap();
    let alone = Command::new(python).arg(&script).env("JAX_PLATFORMS", "cpu").output().unwrap();
    let recorded = Command::new(env!("CARGO_BIN_EXE_jitkey"))
        .args(["record", "--output"])
        .arg(file.path())
        .args(["--", python, &script])
        .env("JAX_PLATFORMS", "cpu")
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let printed = String::from_utf8(recorded.stdout).unwrap();
    assert_eq!(printed, String::from_utf8_lossy(&alone.stdout));
    let recording = Recording::read(&std::fs::read_to_string(file.path()).unwrap()).unwrap();
    let explained = Explained::of(recording, &SPEC).unwrap();
    let otherwise: Vec<_> = explained.calls.iter().filter(|call| !call.is_predicted()).collect();
    assert!(otherwise.is_empty(), "{otherwise:#?}");
    explained
}

#[rstest]
#[case("optimizer_each_step", 3, "optimizer-made-anew")]
#[case("none_gradients", 1, "none-where-an-array-was")]
#[case("module_with_callables", 2, "function-made-anew")]
#[case("line_search", 2, "body-made-anew")]
#[case("line_search_jitted", 1, "weak-type-lost")]
fn a_problem_is_explained(
    #[case] program: &str,
    #[case] again: usize,
    #[case] cause: &str,
    #[values(NEWEST, "0.6.2", "0.4.30")] version: &str,
) {
    let explained = record(program, version);
    let calls: Vec<&ExplainedCall> = explained.calls.iter().filter(|call| call.is_again()).collect();
    assert_eq!(calls.len(), again, "{}", text(&explained, Style::PLAIN));
    for call in calls {
        let causes: Vec<_> = call.advice.iter().flatten().map(|advice| advice.cause.as_str()).collect();
        assert!(!causes.is_empty() && causes.iter().all(|known| *known == cause), "{causes:?}");
    }
    if version == NEWEST {
        crate::snapshot!(format!("explain-{program}"), text(&explained, Style::PLAIN));
    }
}

#[rstest]
fn a_repair_compiles_once(
    #[values(
        "optimizer_each_step_repaired",
        "none_gradients_repaired",
        "module_with_callables_repaired",
        "line_search_repaired"
    )]
    program: &str,
    #[values(NEWEST, "0.6.2", "0.4.30")] version: &str,
) {
    let explained = record(program, version);
    let again: Vec<_> = explained.calls.iter().filter(|call| call.is_again()).collect();
    assert!(again.is_empty() && explained.calls.len() > 2, "{}", text(&explained, Style::PLAIN));
}

#[rstest]
#[case("", "the recording is empty")]
#[case("{\"recording\": 2, \"about\": {}}\n", "format 2")]
#[case("{\"recording\": 1, \"about\": {}}\n", "which jax")]
#[case("{\"recording\": 1, \"about\": {\"jax\": \"0.12.0.1\"}}\n{}\n{\"api\": \"jax.jit\"}\n", "line 2")]
fn what_is_no_recording_is_refused(#[case] content: &str, #[case] reason: &str) {
    let error = Recording::read(content).and_then(|recording| Explained::of(recording, &SPEC)).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

/// A program that is killed leaves half a line.
#[test]
fn a_line_that_was_cut_off_is_left_out() {
    let content = "{\"recording\": 1, \"about\": {\"jax\": \"0.12.0.1\"}}\n{\"api\": \"jax.jit\", \"na";
    assert_eq!(Recording::read(content).unwrap().calls().count(), 0);
}
