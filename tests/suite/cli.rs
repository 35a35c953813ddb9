//! The command line: what it prints and how it ends.

use std::fs;
use std::process::{Command, Output, Stdio};

use rstest::{Context, rstest};

fn jitkey(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_jitkey")).args(arguments).current_dir(folder.path()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[rstest]
#[case::top(&["--help"])]
#[case::check(&["check", "--help"])]
#[case::list(&["list", "--help"])]
#[case::show(&["show", "--help"])]
#[case::predict(&["predict", "--help"])]
#[case::replay(&["replay", "--help"])]
#[case::repro(&["repro", "--help"])]
#[case::schema(&["schema", "--help"])]
#[case::merge(&["merge", "--help"])]
#[case::matrix(&["matrix", "--help"])]
#[case::rulebook(&["rulebook", "--help"])]
#[case::sweep(&["sweep", "--help"])]
#[case::mutants(&["mutants", "--help"])]
#[case::generate(&["generate", "--help"])]
#[case::record(&["record", "--help"])]
#[case::explain(&["explain", "--help"])]
fn help(#[context] context: Context, #[case] arguments: &[&str]) {
    let output = jitkey(arguments);
    assert!(output.status.success());
    crate::snapshot!(format!("help-{}", context.description.unwrap()), stdout(&output));
}

#[test]
fn check_reference_conforms() {
    let output = jitkey(&["check", "reference", "--pairs", "2000", "--seed", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("rules hold on 2 000 pairs"), "{}", stdout(&output));
    assert!(stdout(&output).contains("seed 0x1"));
}

#[test]
fn generated_pairs_are_files_of_cases() {
    let output =
        jitkey(&["generate", "jax.jit@0.6.2", "--pairs", "60", "--rules", "weak-type", "--rules", "none-leaves"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.yaml");
    fs::write(&file, stdout(&output)).unwrap();
    let predicted = jitkey(&["predict", file.to_str().unwrap()]);
    assert_eq!(predicted.status.code(), Some(0), "{}", stderr(&predicted));
    let lines = stdout(&predicted);
    assert!(lines.lines().count() >= 50, "{lines}");
    assert!(lines.lines().all(|line| line.contains("\"as_expected\":true")), "{lines}");
}

#[test]
fn statistics_say_what_is_reached() {
    let output = jitkey(&["generate", "--pairs", "3000", "--statistics"]);
    let text = stdout(&output);
    assert!(text.contains(&format!("{0} of {0} rules", rules_of("jax.jit"))), "{text}");
    for part in ["pytree-structure", "static_keyword", "PRNG key array", "containers around", "pairs in one case"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("no case:"), "{text}");
}

fn rules_of(implementation: &str) -> usize {
    let version: jitkey::spec::Version = super::common::NEWEST.parse().unwrap();
    jitkey::generate::Generator::new(&super::common::SPEC, implementation, &version, |_| true).unwrap().rules().len()
}

#[rstest]
#[case::no_target(&["check"], 2, "required arguments")]
#[case::unknown_target(&["check", "jax.git"], 2, "`jax.git` is no target")]
#[case::unknown_version(&["check", "jax.jit@0.1.0"], 3, "is not among the versions that can be set up")]
#[case::no_such_rule(&["check", "reference", "--rules", "nonsense"], 2, "no rule about jax.jit 0.12.0.1 matches")]
#[case::no_such_program(&["check", "cmd:./nothing"], 3, "could not be started")]
#[case::no_such_python(&["check", "jax.jit", "--python", "/no/python"], 3, "could not be started")]
#[case::bad_seed(&["check", "reference", "--seed", "soon"], 2, "a seed is a number")]
#[case::bad_shard(&["check", "reference", "--shard", "3/2"], 2, "a part is written K/N")]
#[case::generate_unknown(&["generate", "jax.git"], 2, "there is no implementation `jax.git`")]
#[case::generate_nothing(&["generate", "--rules", "nonsense"], 2, "no rule about jax.jit matches")]
#[case::no_such_id(&["show", "weak-type/flop"], 2, "did you mean `weak-type/flip`?")]
#[case::nothing_like_it(&["show", "nope"], 2, "there is no rule, family, case or profile `nope`\n")]
#[case::no_such_version(&["generate", "jax.jit@0.1"], 2, "no profile of jax.jit 0.1; there are those of >=0.12, ")]
#[case::no_such_profile(&["check", "reference:jax.git"], 3, "the spec has no profile of jax.git; it knows equinox.filter_jit")]
#[case::no_such_file(&["predict", "nowhere.yaml"], 2, "nowhere.yaml")]
#[case::no_such_report(&["merge", "nowhere.json"], 2, "nowhere.json")]
#[case::no_such_matrix_target(&["matrix", "jax.git"], 2, "`jax.git` is no target")]
#[case::matrix_target_twice(&["matrix", "reference", "reference"], 2, "reference:jax.jit is given twice")]
fn mistakes_end_with_their_code(#[case] arguments: &[&str], #[case] code: i32, #[case] reason: &str) {
    let output = jitkey(arguments);
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    assert!(stderr(&output).contains(reason), "{}", stderr(&output));
}

/// A process that died in a campaign, whatever of, is in its table.
#[test]
fn a_target_that_died_is_said() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/faulty.py");
    let output =
        jitkey(&["check", &format!("cmd:python3 {script} dies-once died"), "--pairs", "64", "--seed", "1", "-j1"]);
    assert!(stdout(&output).contains("\n  the target was started again 1 time\n"), "{}", stdout(&output));
}

/// A rule that makes no case of some of its metavariables' values isn't one that holds: no other values are drawn instead.
#[test]
fn a_rule_that_makes_no_case_is_said() {
    let rules = "family: mine
about: A key that is a NumPy array.
rules:
  - id: mine/arrays
    says: Each of them is traced.
    forall: {d: {one_of: [f32, key<fry>]}, n: {one_of: ['', 'np:']}}
    case: {steps: [{call: {args: ['${n}${d}[2]']}}]}
    expect: {jax.jit: trace}
    sources: [{project: jitkey}]
";
    let folder = spec_with("rules/mine.yaml", rules);
    let spec = folder.path().to_str().unwrap();
    let output = jitkey(&["check", "reference", "--spec", spec, "--rules", "mine", "--pairs", "40", "--seed", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(stdout(&output).contains("could not be run: mine/arrays"), "{}", stdout(&output));
}

/// What nobody reads is said to nobody, and the code is the same.
#[test]
fn stderr_can_be_closed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jitkey"));
    let mut child = command.args(["check", "nope"]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

/// Whoever is tired of waiting gets the table of what has run.
#[cfg(unix)]
#[test]
fn an_interrupted_campaign_shows_what_it_has() {
    use std::io::{BufRead, BufReader, Read};
    let mut command = Command::new(env!("CARGO_BIN_EXE_jitkey"));
    let mut child =
        command.args(["check", "reference", "--pairs", "100000000", "-j2"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    // Its first lines come when the target is open.
    said.read_line(&mut text).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    said.read_to_string(&mut text).unwrap();
    assert!(text.contains(" pairs were not run\n") && text.contains("rules hold on "), "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// The table is of the targets that were done.
#[cfg(unix)]
#[test]
fn an_interrupted_matrix_shows_what_it_has() {
    use std::io::{BufRead, BufReader, Read};
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let written = format!("json={}", report.display());
    assert!(jitkey(&["check", "reference", "--pairs", "1000", "--report", &written]).status.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_jitkey"));
    command.args(["matrix", "reference:equinox.filter_jit", "reference:lax.scan", "--pairs", "100000000", "--from"]);
    let page = folder.path().join("page.md");
    let mut child =
        command.arg(report).arg("--markdown").arg(&page).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains("  spec ") {
        assert_ne!(said.read_line(&mut text).unwrap(), 0, "{text}");
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    said.read_to_string(&mut text).unwrap();
    assert!(text.contains("stopped: what comes is without reference:equinox.filter_jit and all after it"), "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let table = fs::read_to_string(page).unwrap();
    assert!(table.contains("jax.jit") && !table.contains("filter_jit") && !table.contains("lax.scan"), "{table}");
}

/// A folder with the spec and one rule that is wrong about the reference model.
fn wrong_spec() -> tempfile::TempDir {
    let rule = "family: mine\nabout: A test.\nrules:\n  - id: mine/wrong\n    says: weak_type is ignored.\n    \
                pair: ['f32[]', '~f32[]']\n    in: dynamic\n    expect: {jax.jit: hit}\n    sources: [{project: jax}]\n";
    spec_with("rules/mine.yaml", rule)
}

/// The spec with one more file.
fn spec_with(name: &str, content: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in jitkey::spec::Spec::embedded_files() {
        let path = folder.path().join(&file.name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.text).unwrap();
    }
    fs::write(folder.path().join(name), content).unwrap();
    folder
}

const TWO_CALLS: &str = "steps: [{call: {args: [1]}}, {call: {args: [1.0]}}]";

/// An implementation that no library stands for has a profile, a reference, predictions and, once rules speak of it, mutants.
#[test]
fn a_profile_is_enough_for_an_implementation() {
    let of_jax = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/spec/profiles/jax_jit.yaml")).unwrap();
    let spec = spec_with("profiles/mine.yaml", &of_jax.replace("profile: jax.jit", "profile: mine.jit"));
    let folder = tempfile::tempdir().unwrap();
    let case = folder.path().join("case.yaml");
    fs::write(&case, TWO_CALLS).unwrap();
    let run = |arguments: &[&str]| jitkey(&[&["--spec", spec.path().to_str().unwrap()], arguments].concat());
    let predicted = run(&["predict", case.to_str().unwrap(), "--api", "mine.jit"]);
    assert!(stdout(&predicted).contains(r#""verdicts":["trace","trace"]"#), "{}", stderr(&predicted));
    let replayed = run(&["replay", case.to_str().unwrap(), "--target", "reference:mine.jit"]);
    assert!(stdout(&replayed).contains("observed   trace, trace"), "{}", stderr(&replayed));
    let hunted = run(&["mutants", "--entries", "mine.jit"]);
    assert_eq!((hunted.status.code(), &*stderr(&hunted)), (Some(2), "error: no rule speaks of mine.jit\n"));
    // A second one for the same versions would never be asked.
    fs::copy(spec.path().join("profiles/mine.yaml"), spec.path().join("profiles/more.yaml")).unwrap();
    let twice = run(&["list", "profiles"]);
    assert!(stderr(&twice).contains("mine.jit >=0.12 has a profile already"), "{}", stderr(&twice));
}

#[test]
fn a_script_claims_what_is_known_of_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let [bare, found] = ["bare.yaml", "found.yaml"].map(|name| folder.path().join(name));
    fs::write(&bare, TWO_CALLS).unwrap();
    let finding =
        format!("{{id: one, api: jax.jit, version: 0.12.0.1, observed: [trace, hit], case: {{{TWO_CALLS}}}}}");
    fs::write(&found, finding).unwrap();
    let of =
        |file: &std::path::Path, target: &str| stdout(&jitkey(&["repro", file.to_str().unwrap(), "--target", target]));
    assert!(of(&bare, "jax.jit").contains("expected  trace, trace"));
    assert!(of(&found, "jax.jit@0.12.0.1").contains("observed  trace, hit"));
    assert!(of(&found, "jax.jit@0.6.2").contains("expected  trace, trace"));
    assert!(!of(&found, "jax.jit@0.6.2").contains("observed  "));
}

/// That nothing was run is no success, and neither is a full disk.
#[test]
fn nothing_to_do_fails() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    for arguments in [&["predict", empty][..], &["replay", empty, "--target", "reference"]] {
        let output = jitkey(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    }
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jitkey"));
        let output = command.args(["list", "profiles"]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("stdout can't be written"), "{}", stderr(&output));
    }
}

#[test]
fn findings_are_written_and_replayed() {
    let spec = wrong_spec();
    let spec = spec.path().to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let findings = folder.path().join("found");
    let report = folder.path().join("report.json");
    let output = jitkey(&[
        "--spec",
        spec,
        "check",
        "reference",
        "--rules",
        "mine",
        "--pairs",
        "300",
        "--seed",
        "7",
        "--findings",
        findings.to_str().unwrap(),
        "--report",
        &format!("json={}", report.display()),
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let shown = stdout(&output).replace(&findings.display().to_string(), "findings");
    let shown = without_time(&shown);
    crate::snapshot!("check-with-a-finding", shown);
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["conforms"], false);
    assert_eq!(report["findings"][0]["alone"], "rule");
    let file = findings.join("mine-wrong-1.yaml");
    let replayed = jitkey(&["replay", file.to_str().unwrap(), "--target", "reference"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", stderr(&replayed));
    assert!(stdout(&replayed).contains("the rule stands alone"), "{}", stdout(&replayed));
}

/// The time that a campaign took is not part of a snapshot.
fn without_time(text: &str) -> String {
    text.lines()
        .map(|line| match line.rsplit_once("    ") {
            Some((before, after)) if after.ends_with(" s") => format!("{before}    … s"),
            _ => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn predict_reads_bare_cases_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    fs::write(&file, "steps:\n- call: {args: [{dict: {a: ['f32[]']}}]}\n- call: {args: [{dict: {a: ['~f32[]']}}]}\n")
        .unwrap();
    let output = jitkey(&["predict", file.to_str().unwrap(), "--api", "jax.jit"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let line: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(line["verdicts"], serde_json::json!(["trace", "trace"]));
    assert_eq!(line["differences"][1][0]["path"], "args[0]['a'][0]");
    assert_eq!(line["differences"][1][0]["component"], "weak_type");
}

#[rstest]
#[case::number("1.0", "1.0", &["jax_enable_x64"])]
#[case::numpy("'np:f64[2]'", "'np:f64[2]'", &["jax_enable_x64"])]
#[case::reals("'f32[2]'", "'f64[2]'", &["dtype", "jax_enable_x64"])]
#[case::complex("'c64[]'", "'c128[]'", &["dtype", "jax_enable_x64"])]
#[case::another_dtype("'i8[]'", "'i64[]'", &["dtype", "jax_enable_x64"])]
fn what_a_flag_makes_wider_of_itself_is_said_once(
    #[case] before: &str,
    #[case] after: &str,
    #[case] components: &[&str],
) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    let flag = "context: {flags: {jax_enable_x64: true}}";
    fs::write(&file, format!("steps: [{{call: {{args: [{before}]}}}}, {{call: {{args: [{after}], {flag}}}}}]"))
        .unwrap();
    let output = jitkey(&["predict", file.to_str().unwrap(), "--api", "jax.jit"]);
    let line: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let mut found: Vec<_> =
        line["differences"][1].as_array().unwrap().iter().map(|it| it["component"].clone()).collect();
    found.sort_by_key(ToString::to_string);
    assert_eq!(found, components, "{}", stderr(&output));
}

#[test]
fn a_case_that_can_not_be_read_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.yaml");
    let cases = "- {id: one, api: jax.jit, case: {steps: [{call: {args: ['f32[]']}}]}}
- {id: two, api: jax.jit, case: {function: {def: {params: [3]}}, steps: [{call: {args: ['f32[]']}}]}}
- {api: jax.jit, case: {steps: [{call: {args: [{ref: nobody}]}}]}}
- {id: four, api: jax.jit, case: {steps: [{call: {args: ['f32[]']}}]}}
";
    fs::write(&file, cases).unwrap();
    let output = jitkey(&["predict", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    let (said, wrong) = (stdout(&output), stderr(&output));
    assert!(said.contains("\"one\"") && said.contains("\"four\"") && said.lines().count() == 2, "{said}");
    assert!(wrong.contains("error: invalid type: integer `3`, expected a parameter: `x`"), "{wrong}");
    assert!(wrong.contains("cases.yaml:2:60 (two)"), "{wrong}");
    assert!(wrong.contains("error: step 1, args[0]: there is no object `nobody`"), "{wrong}");
    assert!(wrong.contains("cases.yaml:3:18"), "{wrong}");
}

#[test]
fn predict_fails_where_the_expectation_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.json");
    fs::write(
        &file,
        r#"{"api": "jax.jit", "expect": ["trace", "trace"], "case": {"steps": [{"call": {}}, {"call": {}}]}}"#,
    )
    .unwrap();
    let output = jitkey(&["predict", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains(r#""as_expected":false"#));
}

#[test]
fn what_is_expected_of_one_implementation_is_not_asked_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    fs::write(&file, "id: mine\napi: jax.jit\nexpect: [hit]\ncase: {steps: [{call: {}}]}\n").unwrap();
    let file = file.to_str().unwrap();
    let replayed = jitkey(&["replay", file, "--target", "reference:lax.cond"]);
    assert_eq!(stderr(&replayed), "error: there is no case about lax.cond in that\n");
    assert_eq!(replayed.status.code(), Some(2));
    assert_eq!(stdout(&replayed), "mine: skipped, it is about jax.jit and the target is lax.cond\n");
    let predicted = jitkey(&["predict", file, "--api", "equinox.filter_jit"]);
    assert!(!stdout(&predicted).contains("as_expected"), "{}", stdout(&predicted));
}

#[test]
fn the_written_cases_are_predicted() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/spec/cases");
    let output = jitkey(&["predict", cases]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn lists_name_everything() {
    assert!(stdout(&jitkey(&["list", "rules"])).contains("weak-type/flip"));
    assert!(stdout(&jitkey(&["list", "profiles"])).contains("equinox.filter_jit"));
    assert!(stdout(&jitkey(&["list", "targets"])).contains("jax.jit@0.6.2"));
    assert!(stdout(&jitkey(&["list", "cases"])).contains("problems/none-gradients"));
}

#[test]
fn shards_become_one_report_and_a_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for shard in ["1/2", "2/2"] {
        let report = format!("json={}", file(&format!("{}.json", &shard[..1])));
        let output = jitkey(&[
            "check",
            "reference:jax.jit@0.6.2",
            "--rules",
            "weak-type",
            "--pairs",
            "200",
            "--seed",
            "1",
            "--shard",
            shard,
            "--report",
            &report,
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let half = jitkey(&["merge", &file("1.json")]);
    assert!(stdout(&half).contains("missing of seed 0x1: shard 2/2"), "{}", stdout(&half));
    let twice = jitkey(&["merge", &file("1.json"), &file("1.json")]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("both have shard 1 of 2 of seed 0x1"), "{}", stderr(&twice));
    let whole = jitkey(&["merge", &file("1.json"), &file("2.json"), "-o", &file("whole.json")]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    assert!(stdout(&whole).contains("rules hold on 200 pairs"), "{}", stdout(&whole));
    let table = jitkey(&["matrix", "--from", &file("1.json"), &file("2.json")]);
    assert_eq!(table.status.code(), Some(0), "{}", stderr(&table));
    assert_eq!(stdout(&table), stdout(&jitkey(&["matrix", "--from", &file("whole.json")])));
    assert!(stdout(&table).contains("| `reference:jax.jit@0.6.2` | model reference | 200 | seed 0x1 | conforms |"));
}

#[test]
fn a_matrix_has_a_column_for_what_can_not_be_run() {
    let output = jitkey(&["matrix", "reference", "jax.jit@0.1.0", "--rules", "weak-type/flip", "--pairs", "20"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("not run: jax.jit 0.1.0 is not among the versions"), "{}", stdout(&output));
    assert!(stdout(&output).contains("| trace ✓ |"), "{}", stdout(&output));
}

#[test]
fn a_report_of_another_spec_makes_no_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json").to_str().unwrap().to_owned();
    let spec = wrong_spec();
    let spec = spec.path().to_str().unwrap();
    let report = format!("json={file}");
    jitkey(&["--spec", spec, "check", "reference", "--rules", "none-leaves", "--pairs", "20", "--report", &report]);
    let output = jitkey(&["matrix", "--from", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("was made with another spec"), "{}", stderr(&output));
}
