//! The JSON Schemas beside the spec are those that the types make, and the spec's files satisfy them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rstest::rstest;
use serde_json::Value as Json;

fn printed(name: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_jitkey")).args(["schema", name]).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The YAML files of a folder of the spec and of the folders in it.
fn yaml_files(folder: &str) -> Vec<PathBuf> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("spec").join(folder), &mut files);
    files
}

#[rstest]
fn the_files_are_current(
    #[values(
        "rules", "profile", "contexts", "flags", "python", "causes", "mutants", "cases", "case", "protocol", "report"
    )]
    name: &str,
) {
    let path = format!("{}/spec/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let printed = printed(name);
    if std::env::var_os("JITKEY_BLESS").is_some() {
        fs::write(&path, &printed).unwrap();
    }
    let file = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        file == printed,
        "spec/schemas/{name}.json is not what `jitkey schema {name}` prints; JITKEY_BLESS=1 writes it"
    );
}

#[rstest]
#[case("rules", "rules")]
#[case("profiles", "profile")]
#[case("cases", "cases")]
fn the_spec_satisfies_them(#[case] folder: &str, #[case] schema: &str) {
    let schema: Json = serde_json::from_str(&printed(schema)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for path in yaml_files(folder) {
        let document: Json = serde_yaml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let errors: Vec<_> =
            validator.iter_errors(&document).map(|error| format!("{} at {}", error, error.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

#[test]
fn every_file_of_the_spec_names_its_schema() {
    for folder in ["rules", "profiles", "cases"] {
        for path in yaml_files(folder) {
            let text = fs::read_to_string(&path).unwrap();
            let first = text.lines().next().unwrap_or_default();
            assert!(first.starts_with("# yaml-language-server: $schema=../"), "{}", path.display());
        }
    }
}
