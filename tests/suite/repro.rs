//! Scripts that stand alone: what they look like, and that they do on the real libraries what their cases say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jitkey::spec::CaseFile;
use jitkey::target::environment;
use rstest::{Context, rstest};

use super::common::{NEWEST, SPEC};
use super::scripts::{Ended, Forks};

/// How many of a file's scripts are run, about: each takes about a second.
const RUN: usize = 30;

const WEAK_TYPE: &str = "
id: finding/weak-type/flip
says: Two arrays that differ only in weak_type are two keys.
api: jax.jit
version: 0.12.0.1
case: {steps: [{call: {args: ['f32[]']}}, {call: {args: ['~f32[]']}}]}
expect: [trace, trace]
observed: [trace, hit]
";

const STALE: &str = "
id: static-hashing/nested-type
says: A tuple's elements are compared by ==, so that True finds the program of 1.
api: jax.jit
case:
  function: {def: {params: [x, s]}}
  options: {static_argnums: [1]}
  steps: [{call: {args: ['f32[3]', {tuple: [1]}]}}, {call: {args: ['f32[3]', {tuple: [true]}]}}]
expect: {verdict: hit, stale: true}
";

const CLASSES: &str = "
id: classes
says: Every kind of class, and what happens between calls.
api: equinox.filter_jit
case:
  classes:
    Point: {namedtuple: [x, y]}
    Node: {node: {}}
    Data: {dataclass: {data: [w], meta: [name]}}
    Model: {module: {fields: [w], static: [activation]}}
    Chosen: {plain: {eq: value, hash: chosen, callable: true}}
    Colour: {enum: [RED, GREEN]}
    Text: {subclass: {of: str}}
  objects:
    box: {new: {class: Chosen, value: 1, hash: 7}}
    g: {lambda: {}}
  steps:
    - call: {args: [{new: {class: Point, args: ['f32[3]', null]}}, {new: {class: Node, children: ['~f32[3]'], aux: {str: a}}}]}
    - call: {args: [{new: {class: Data, fields: {w: 'np:>f32[3]', name: {new: {class: Text, value: {str: b}}}}}}, {dict: {colour: {new: {class: Colour, member: RED}}}}]}
    - call: {args: [{new: {class: Model, fields: {w: 'f64[3]', activation: {global: jnp.tanh}}}}], context: {x64: true}}
    - call: {function: {ref: g}, args: [{ref: box}]}
    - mutate: {object: box, value: 2}
    - drop: g
    - clear: jax
    - call: {function: {method: {of: {ref: box}}}, args: [{output: {call: 4, path: [0]}}]}
";

const DISPATCH: &str = "
id: devices
says: A committed array is another key of the fast path, and of nothing below.
api: jax.jit
case: {devices: 2, steps: [{call: {args: ['f32[3]']}}, {call: {args: ['f32[3]@0']}}, {call: {args: ['f32[3]@1']}}, {call: {via: trace, args: ['f32[3]']}}]}
expect: [trace, dispatch, lower, hit]
";

fn jitkey(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jitkey")).args(arguments).current_dir(folder).output().unwrap()
}

/// The script of a case.
fn script(case: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("case.yaml"), case).unwrap();
    let output = jitkey(folder.path(), &["repro", "case.yaml"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A Python that has the libraries.
fn python(implementation: &str) -> String {
    let mut say = |line: &str| eprintln!("{line}");
    environment::command(implementation, None, None, &mut say).unwrap_or_else(|error| panic!("{error}")).0.remove(0)
}

/// Runs the scripts of a folder: name, exit code and output of each.
fn run(folder: &Path, implementation: &str) -> Vec<(String, i64, String)> {
    let mut scripts: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|file| file.extension().is_some_and(|it| it == "py"));
    scripts.sort();
    let mut forks = Forks::of(&python(implementation), &[]);
    let one = |script: PathBuf| {
        let Ended { code, output, errors } = forks.run(&script);
        (script.file_name().unwrap().to_str().unwrap().to_owned(), code, output + &errors)
    };
    scripts.into_iter().map(one).collect()
}

#[rstest]
#[case::weak_type(WEAK_TYPE)]
#[case::stale(STALE)]
#[case::classes(CLASSES)]
#[case::dispatch(DISPATCH)]
fn a_script(#[context] context: Context, #[case] case: &str) {
    crate::snapshot!(format!("repro-{}", context.description.unwrap()), script(case));
}

#[rstest]
#[case("[{clear: function}, {call: {args: [1]}}]", "clearing one function")]
#[case("[{call: {args: [1], via: trace}}]", "a trace alone, which eqx.filter_jit hasn't")]
fn what_a_script_cannot_express_is_named(#[case] steps: &str, #[case] what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let case = format!("{{api: equinox.filter_jit, case: {{steps: {steps}}}}}");
    fs::write(folder.path().join("case.yaml"), case).unwrap();
    let output = jitkey(folder.path(), &["repro", "case.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains(&format!("no script can be written for {what}")), "{error}");
}

/// What raises where it is wrapped is wrapped in the call, and compiled there where the case says so.
#[test]
fn what_fails_ahead_of_time_is_wrapped_in_the_call() {
    let options = "{static_argnums: [1], keep_unused: true}";
    let call = "{call: {args: ['f32[]', []], via: compile}}";
    let case =
        format!("{{api: jax.jit, expect: [{{error: ValueError}}], case: {{options: {options}, steps: [{call}]}}}}");
    let called = "lambda *args, **kwargs: compiled(jax.jit(f, static_argnums=(1,), keep_unused=True))(*args, **kwargs)";
    let written = script(&case);
    assert!(written.contains(called), "{written}");
}

#[rstest]
#[case("jax.jit", "tests/ground_truth/jax_jit.yaml")]
#[case("jax.jit", "tests/ground_truth/meshes.yaml")]
#[case("equinox.filter_jit", "tests/ground_truth/equinox_filter_jit.yaml")]
#[case("equinox.filter_jit", "spec/cases")]
fn scripts_do_what_their_cases_say(#[case] implementation: &str, #[case] file: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let output = jitkey(folder.path(), &["repro", &file, "-o", "."]);
    // There are no scripts for loops, nnx.jit, gradients and effects yet, nor of some stale hits; everything else has one.
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let known = |line: &str| {
        [
            "the target lax.",
            "the target flax.nnx.jit",
            "a use under grad, jvp or make_jaxpr",
            "a function whose body has an effect",
            "a stale hit of a compiled object",
            "a stale hit of a function whose defaults were changed",
            "jax.jit 0.12.0.1, of which nothing is expected",
            "equinox.filter_jit 0.12.0.1, of which nothing is expected",
        ]
        .iter()
        .any(|what| line.contains(&format!("no script can be written for {what}")))
    };
    assert!(errors.lines().all(|line| line.is_empty() || known(line)), "{errors}");
    let mut scripts: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    let one_of = scripts.len().div_ceil(RUN);
    for (_, left_out) in scripts.iter().enumerate().filter(|(i, _)| i % one_of != 0) {
        fs::remove_file(left_out).unwrap();
    }
    let newest = NEWEST.parse().unwrap();
    // The script of a stale hit fails while the hit is stale; every other one while something else happens than expected.
    let stale = |script: &str| {
        let of_script = |file: &&CaseFile| script == format!("{}.py", file.id.replace('/', "-"));
        let outcome = SPEC.cases.values().find(of_script).and_then(|file| file.expect.as_ref()?.at(&newest));
        outcome.is_some_and(|outcome| outcome.is_stale())
    };
    let expected = |script: &str| i64::from(stale(script));
    let ended = run(folder.path(), implementation);
    let wrong: Vec<_> = ended.into_iter().filter(|(script, code, _)| *code != expected(script)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_script_fails_while_the_behaviour_is_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mended.py"), script(WEAK_TYPE)).unwrap();
    fs::write(folder.path().join("stale.py"), script(STALE)).unwrap();
    let there = WEAK_TYPE.replace("expect: [trace, trace]", "expect: [trace, hit]");
    fs::write(folder.path().join("there.py"), script(&there)).unwrap();
    let mut ended = run(folder.path(), "jax.jit").into_iter();
    let mut next = || ended.next().map(|(_, code, output)| (code, output)).unwrap();
    assert_eq!(next(), (0, "call 1: trace\ncall 2: trace\nnot reproduced\n".to_owned()));
    let (code, output) = next();
    assert!(code == 1 && output.contains("call 2: hit") && output.contains("the hit is stale"), "{output}");
    let (code, output) = next();
    assert!(code == 1 && output.ends_with("call 2: expected hit, got trace\n"), "{output}");
}

#[test]
fn a_finding_of_a_lying_target_becomes_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let faulty = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/faulty.py");
    let target = format!("cmd:{} {faulty} none", python("jax.jit"));
    let check = ["check", &target, "--rules", "weak-type/*", "--pairs", "200", "--seed", "1"];
    assert_eq!(jitkey(folder.path(), &check).status.code(), Some(1));
    let output = jitkey(folder.path(), &["repro", "findings", "-o", "scripts"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let script =
        fs::read_dir(folder.path().join("scripts")).unwrap().next().expect("there is a finding").unwrap().path();
    assert!(fs::read_to_string(script).unwrap().contains("observed  trace only, trace only"));
    for (name, code, output) in run(&folder.path().join("scripts"), "jax.jit") {
        assert!(code == 0 && output.ends_with("not reproduced\n"), "{name}: {output}");
    }
}
