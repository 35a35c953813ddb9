//! Sweeps: the table of recorded lines, what a sweep does with a wrong prediction, and a real one.

use std::process::Command;

use jitkey::check::{Row, Run, Settles, Sweep};
use jitkey::report::sweep;
use jitkey::report::text::Style;
use jitkey::spec::Version;

use super::common::{NEWEST, SPEC};

/// Real lines, of jax 0.12.0.1, optax 0.2.8, equinox 0.13.8 and flax 0.12.12.
const RECORDED: &str = include_str!("../sweeps/recorded.jsonl");

fn recorded() -> Sweep {
    let mut sweep = Sweep::default();
    for line in RECORDED.lines() {
        sweep.add(serde_json::from_str(line).unwrap(), &SPEC).unwrap();
    }
    sweep
}

#[test]
fn the_table_of_recorded_lines() {
    let sweep = recorded();
    assert!(sweep.agrees());
    crate::snapshot!("sweep-recorded", sweep::text(&sweep, Style::PLAIN));
    crate::snapshot!("sweep-recorded-markdown", sweep::page(&sweep));
}

#[test]
fn a_compile_that_was_not_predicted_is_a_disagreement() {
    let line = RECORDED.lines().nth(1).unwrap();
    let mut recorded: jitkey::check::Recorded = serde_json::from_str(line).unwrap();
    let Run::Ran { calls, .. } = &mut recorded.run else { panic!("{line}") };
    let missed = calls[0].missed;
    calls[3].missed = missed;
    let row = Row::of(&recorded, &SPEC, &NEWEST.parse::<Version>().unwrap());
    assert_eq!(row.settles, Settles::Never);
    assert_eq!(row.disagreement.as_deref(), Some("the model says trace, hit, hit, hit"));
}

#[test]
fn no_line_is_judged_before_one_that_names_the_version() {
    let line = serde_json::from_str(RECORDED.lines().nth(1).unwrap()).unwrap();
    assert_eq!(Sweep::default().add(line, &SPEC).unwrap_err(), "no line says which jax was run");
}

/// In the private environment, which is set up on first use.
#[test]
fn a_real_sweep_of_a_few_transformations() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("sweep.json");
    let output = Command::new(env!("CARGO_BIN_EXE_jitkey"))
        .args([
            "sweep",
            "optax",
            "--only",
            "adam",
            "--only",
            "sgd",
            "--only",
            "scale_by_backtracking_linesearch",
            "--json",
        ])
        .arg(&json)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    let sweep: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let settles = |subject: &str, input: &str| {
        let rows = sweep["rows"].as_array().unwrap();
        rows.iter().find(|row| row["subject"] == subject && row["input"] == input).unwrap()["settles"].clone()
    };
    assert_eq!(settles("optax.sgd", "f32"), "at_once");
    assert_eq!(settles("optax.adam", "f32"), "at_once");
    assert_eq!(settles("optax.adam", "bf16, f32 grads"), serde_json::json!({"after": 1}));
    assert!(settles("optax.adam", "None grad")["raises"].as_str().unwrap().starts_with("ValueError"));
    // The count of steps in its first state is weakly typed.
    assert_eq!(settles("optax.scale_by_backtracking_linesearch", "f32"), serde_json::json!({"after": 1}));
}
