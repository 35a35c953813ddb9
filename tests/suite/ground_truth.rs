//! Rows measured on the real libraries (`tests/ground_truth/`): the model predicts all of them, at each version.

use std::fs;

use jitkey::case::{Behaviour, text};
use jitkey::model::behaviour;
use jitkey::spec::CaseFile;
use rstest::rstest;

use super::common::SPEC;

#[rstest]
fn every_row_is_predicted(
    #[values(
        "jax_jit",
        "equinox_filter_jit",
        "control_flow",
        "contexts",
        "placement_and_uses",
        "sequences",
        "meshes",
        "persistent_cache"
    )]
    file: &str,
    #[values("0.12.0.1", "0.11.2", "0.10.2", "0.9.2", "0.8.3", "0.7.2", "0.6.2", "0.5.3", "0.4.30")] version: &str,
) {
    let path = format!("{}/tests/ground_truth/{file}.yaml", env!("CARGO_MANIFEST_DIR"));
    let rows: Vec<CaseFile> = text::from_yaml(&fs::read_to_string(path).unwrap()).unwrap();
    let parsed = version.parse().unwrap();
    let mut wrong = Vec::new();
    let mut right = 0;
    for row in &rows {
        row.case.validate().unwrap_or_else(|error| panic!("{}: {error}", row.id));
        let profile = SPEC.profile(&row.api, &parsed).unwrap();
        let Some(expected) = row.expect.as_ref().and_then(|expect| expect.at(&parsed)) else { continue };
        let shown = |calls: &[Behaviour]| calls.iter().map(Behaviour::to_string).collect::<Vec<_>>().join(", ");
        match behaviour(&row.case, profile) {
            Ok(calls) if calls == expected.completed(&calls) => right += 1,
            Ok(calls) => {
                wrong.push(format!("{}: measured {}, predicted {}", row.id, shown(&expected.calls), shown(&calls)))
            }
            Err(error) => wrong.push(format!("{}: {error}", row.id)),
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows are wrong:\n{}", wrong.len(), wrong.len() + right, wrong.join("\n"));
    // jax 0.4 has neither explicit axes nor jax.set_mesh.
    let fewest = match file {
        "meshes" => 4,
        "sequences" | "persistent_cache" => 10,
        _ => 35,
    };
    assert!(right > fewest, "only {right} rows were looked at");
}
