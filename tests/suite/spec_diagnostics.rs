//! What somebody reads who made a mistake in a spec file.

use std::fs;

use jitkey::case::{Form, Value};
use jitkey::spec::{CaseFile, Spec, SpecFile};
use rstest::{Context, rstest};

/// The built-in profiles and contexts, with `rules` as the only rules.
fn spec_with(rules: &str) -> Result<Spec, String> {
    spec_of(rules, str::to_owned)
}

/// The same with profiles that are written otherwise.
fn spec_of(rules: &str, written: impl Fn(&str) -> String) -> Result<Spec, String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/spec");
    let read =
        |name: &str| SpecFile { name: name.to_owned(), text: fs::read_to_string(format!("{root}/{name}")).unwrap() };
    let mut files = vec![read("contexts.yaml"), read("flags.yaml"), read("python.yaml")];
    for entry in fs::read_dir(format!("{root}/profiles")).unwrap() {
        let mut profile = read(&format!("profiles/{}", entry.unwrap().file_name().to_string_lossy()));
        profile.text = written(&profile.text);
        files.push(profile);
    }
    files.push(SpecFile { name: "rules/mine.yaml".to_owned(), text: rules.to_owned() });
    Spec::from_files(files).map_err(|diagnostics| diagnostics.to_string())
}

const GOOD: &str = "\
family: mine
about: For a test.
rules:
  - id: mine/flip
    says: Two arrays that differ only in weak_type are two keys.
    forall: {d: {dtype: inexact}, s: {shape: {rank: 0..4}}}
    pair: [\"${d}[${s}]\", \"~${d}[${s}]\"]
    in: dynamic
    expect: {jax.jit: trace}
    sources: [{project: jax}]
";

#[test]
fn a_good_file_is_read() {
    let spec = spec_with(GOOD).unwrap();
    assert_eq!(spec.rules.len(), 1);
}

#[rstest]
#[case::unknown_field("says:", "sayz:")]
#[case::unknown_verdict("jax.jit: trace", "jax.jit: trase")]
#[case::unknown_implementation("jax.jit: trace", "jax.jitt: trace")]
#[case::unknown_position("in: dynamic", "in: dynamik")]
#[case::unknown_domain("{dtype: inexact}", "{dtyp: inexact}")]
#[case::unknown_dtype_class("inexact", "inexactly")]
#[case::unused_metavariable("[${s}]\", \"~${d}[${s}]", "[]\", \"~${d}[]")]
#[case::undeclared_metavariable("~${d}", "~${e}")]
#[case::pattern_is_no_value("\"~${d}[${s}]\"", "{tupel: [1]}")]
#[case::one_of_them_is_no_value("{dtype: inexact}", "{one_of: [f32, bf16, f31]}")]
#[case::two_domains("{dtype: inexact}", "{dtype: inexact, int: 0..3}")]
#[case::bad_range("0..4", "4..0")]
#[case::wrong_family("id: mine/flip", "id: yours/flip")]
#[case::no_position("    in: dynamic\n", "")]
#[case::position_of_another("in: dynamic", "in: leaf")]
#[case::not_yaml("sources: [{project: jax}]", "sources: [{project: jax}")]
#[case::anchor_twice(
    "{d: {dtype: inexact}, s: {shape: {rank: 0..4}}}",
    "{d: {dtype: &it inexact}, s: {shape: &it {rank: 0..4}}}"
)]
#[case::bad_version("jax.jit: trace", "jax.jit: {\"<new\": trace}")]
fn a_mistake_is_explained(#[context] context: Context, #[case] good: &str, #[case] bad: &str) {
    let text = GOOD.replace(good, bad);
    assert_ne!(text, GOOD);
    let name = context.description.expect("every case has a name");
    crate::snapshot!(format!("diagnostic-{name}"), spec_with(&text).unwrap_err());
}

/// What several profiles have from another file is wrong there, and once.
#[rstest]
#[case::in_what_they_share(
    "forwards_unchanged: true\naxes",
    "forwards_unchanged: 3\naxes",
    "spec/profiles/lax.yaml:23:"
)]
#[case::in_an_edit_they_share("remove: contexts_made", "remuve: contexts_made", "spec/profiles/lax.yaml:")]
#[case::in_a_version_they_share("set: {checkpoint: argument_names}", "set: 3", "spec/profiles/lax.yaml:53:")]
#[case::in_its_own(
    "{at: contradicted_length, set: ValueError}",
    "{at: contradicted, set: 3}",
    "spec/profiles/lax_scan.yaml:"
)]
fn a_mistake_in_a_profile_is_said_where_it_is(#[case] good: &str, #[case] bad: &str, #[case] place: &str) {
    let said = spec_of(GOOD, |text| text.replace(good, bad)).unwrap_err();
    assert!(said.contains("\n1 error in 1 file") && said.contains(place), "{said}");
}

#[test]
fn every_error_is_reported_at_once() {
    let second = GOOD.split_once("rules:\n").unwrap().1;
    let text = format!("{}{second}", GOOD.replace("says:", "sayz:").replace("inexact", "inexactly"))
        + "  - id: mine/flip\n    says: Again.\n    pair: [1, 2]\n    in: [static, nowhere]\n    expect: {jax.git: hit}\n    sources: []\n";
    crate::snapshot!("diagnostic-many", spec_with(&text).unwrap_err());
}

/// Files of cases are read as those of the spec are: one that is wrong says where, and those beside it are read.
#[test]
fn a_case_that_cannot_be_read_says_where() {
    let case = |name: &str, last: &str| {
        format!("- id: {name}\n  api: jax.jit\n  case:\n    steps:\n      - call: {{args: [1]}}\n      - {last}\n")
    };
    let text = [
        case("good", "call: {args: [2]}"),
        case("form", "call: {args: [{tupel: [1]}]}"),
        case("array", "call: {args: ['f32[3', 0], kwargs: {a: {dikt: {}}}}"),
        case("object", "call: {args: [{ref: x}]}"),
    ]
    .concat();
    let read = |text: &str, before, api| {
        let file = SpecFile { name: "mine.yaml".to_owned(), text: text.to_owned() };
        match CaseFile::all_of(&file, before, api) {
            Ok(cases) => cases.into_iter().map(|case| case.map_or_else(|it| it.to_string(), |it| it.id)).collect(),
            Err(wrong) => vec![wrong.to_string()],
        }
    };
    let mut said = read(&text, 0, None);
    said.extend(read("steps: []", 0, None));
    said.extend(read("{", 6, Some("jax.jit")));
    said.extend(read("steps: [{call: {args: [99999999999999999999]}}]", 6, Some("jax.jit")));
    said.extend(read(
        "\u{feff}steps: [call: 3, call: {args: [1]}, {call: 4}, {cal: {args: [zero, 0, one]}}]",
        0,
        Some("jax.jit"),
    ));
    said.extend(read("id: a\napi: jax.jit\nsteps: []", 0, Some("jax.jit")));
    said.extend(read("id: a\napi: jax.jit\ncase: {steps: 3}", 0, None));
    said.extend(read("# Nothing.\n", 0, None));
    let many = "'np:f32[2,3]', ".repeat(20);
    said.extend(read(&format!("steps: [{{call: {{args: [{many} {{new: 1}}, {many}]}}}}]"), 0, Some("jax.jit")));
    crate::snapshot!("diagnostic-of_cases", said.join("\n---\n"));
}

/// JSON writes a character beyond the first 65 536 as two escapes, which are no characters of YAML; a backslash that is escaped
/// itself begins none.
#[rstest]
#[case::a_pair(r#""\ud83d\uDE00!""#, Some("\u{1f600}!"))]
#[case::an_escaped_backslash(r#""\\\ud83d\ude00""#, Some("\\\u{1f600}"))]
#[case::escaped_backslashes(r#""\ud83d\ude00 \\ud83d\\ude00""#, Some("\u{1f600} \\ud83d\\ude00"))]
#[case::a_lone_one(r#""\ud83d""#, None)]
#[case::no_anchors(r#""a &b and &b""#, Some("a &b and &b"))]
fn json_is_read_as_it_is_written(#[case] written: &str, #[case] expected: Option<&str>) {
    let text = format!(r#"{{"steps": [{{"call": {{"args": [{{"str": {written}}}]}}}}]}}"#);
    let file = SpecFile { name: "mine.json".to_owned(), text };
    let read = CaseFile::all_of(&file, 0, Some("jax.jit")).ok().and_then(|mut cases| cases.remove(0).ok());
    let expected = expected.map(|text| vec![Value::from(Form::Str(text.to_owned()))]);
    assert_eq!(read.map(|file| file.case.calls().next().unwrap().args.clone()), expected);
}
