//! Programs that people reported (`spec/cases/real_world`): the model predicts each of them, at each version.

use jitkey::case::{Behaviour, text};
use jitkey::model::behaviour;
use jitkey::spec::CaseFile;
use rstest::rstest;

use super::common::SPEC;

/// The reported programs that the model does not predict, with what was measured.
const NOT_PREDICTED: &str = include_str!("../ground_truth/real_world.yaml");

/// What the model says of each call of the case at `version`, and whether that is what is expected; `None` where the case
/// says nothing of the version, which then lacks what the case needs.
fn compared(file: &CaseFile, version: &str) -> Option<(bool, String)> {
    let version = version.parse().unwrap();
    let expected = file.expect.as_ref().expect("a reported program has an expectation").at(&version)?;
    let profile = SPEC.profile(&file.api, &version).unwrap();
    Some(match behaviour(&file.case, profile) {
        Ok(calls) => {
            let shown: Vec<_> = calls.iter().map(Behaviour::to_string).collect();
            (calls == expected.completed(&calls), format!("expected {expected}, predicted {}", shown.join(", ")))
        }
        Err(error) => (false, error.to_string()),
    })
}

#[rstest]
fn every_report_is_predicted(
    #[values(
        "0.12.0.1", "0.11.2", "0.10.2", "0.9.2", "0.9.0", "0.8.3", "0.7.2", "0.6.2", "0.5.3", "0.4.38", "0.4.36",
        "0.4.35", "0.4.31", "0.4.30"
    )]
    version: &str,
) {
    let is_measured = |file: &&CaseFile| ["real/", "finds/"].iter().any(|area| file.id.starts_with(area));
    let files: Vec<_> = SPEC.cases.values().filter(is_measured).collect();
    let compared: Vec<_> = files.iter().filter_map(|file| Some((&file.id, compared(file, version)?))).collect();
    let wrong: Vec<_> = compared.iter().filter(|(_, (right, _))| !right).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared.len() > 130, "only {} reports were looked at", compared.len());
}

#[test]
fn every_report_has_a_source_and_a_sentence() {
    for file in SPEC.cases.values().filter(|file| file.id.starts_with("real/")) {
        assert!(file.says.ends_with('.'), "{}", file.id);
        assert!(file.sources.iter().any(|source| source.thread.is_some() || source.symbol.is_some()), "{}", file.id);
    }
}

/// A row that is predicted at every version after all belongs with the others.
#[test]
fn what_is_not_predicted_is_still_not() {
    let files: Vec<CaseFile> = text::from_yaml(NOT_PREDICTED).unwrap();
    for file in files {
        file.case.validate().unwrap_or_else(|error| panic!("{}: {error}", file.id));
        assert!(!SPEC.cases.contains_key(&file.id), "{} stands in both places", file.id);
        let predicted =
            ["0.12.0.1", "0.6.2", "0.4.30"].iter().all(|at| compared(&file, at).is_none_or(|(right, _)| right));
        assert!(!predicted, "{} is predicted now: move it to spec/cases/real_world", file.id);
    }
}
