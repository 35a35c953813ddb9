//! Programs that users wrote, recorded and explained: the four problems, and what mends them.

use std::collections::HashMap;
use std::process::Command;

use jitkey::case::Verdict;
use jitkey::case::text::to_yaml;
use jitkey::explain::{Explained, ExplainedCall, Nearest, Pattern, Recording, Tried, numbered};
use jitkey::model::Difference;
use jitkey::report::explain::text;
use jitkey::report::text::Style;
use jitkey::spec::CaseFile;
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
    let tried: Vec<_> = explained.calls.iter().filter_map(|call| call.tried).collect();
    let is_mended = tried.iter().all(|tried| *tried == Tried { mends: true, minimal: true });
    let is_again = explained.calls.iter().any(ExplainedCall::is_again);
    assert!(is_mended && is_again != tried.is_empty(), "{}", text(&explained, Style::PLAIN));
    let otherwise: Vec<_> = explained.calls.iter().filter(|call| !call.is_predicted()).collect();
    assert!(otherwise.is_empty(), "{otherwise:#?}");
    explained
}

#[rstest]
#[case("optimizer_each_step", 3, "optimizer-made-anew")]
#[case("none_gradients", 1, "none-in-an-optimizer-state")]
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
    // The miss alone, and repaired, on the real library.
    let call = explained.calls.iter().find(|call| call.is_again()).unwrap();
    let cases = explained.cases(call.number, &SPEC).unwrap();
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(file.path(), serde_json::to_string(&cases).unwrap()).unwrap();
    let target = format!("{}@{version}", call.api);
    let replayed = Command::new(env!("CARGO_BIN_EXE_jitkey"))
        .args(["replay", "--target", &target])
        .arg(file.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(replayed.stdout).unwrap();
    assert!(replayed.status.success(), "{printed}{}", String::from_utf8_lossy(&replayed.stderr));
    let observed: Vec<_> = printed.lines().filter(|line| line.trim_start().starts_with("observed")).collect();
    assert_eq!(observed, ["  observed   trace, trace", "  observed   trace, hit"], "{printed}");
}

/// What differs is found inside of data, and a miss of the fast path is compared with what led to the same program.
#[rstest]
#[case::in_a_dict(
    r#"{"new": {"class": "Node", "children": [], "aux": {"dict": {"cap": 4, "kind": {"str": "ring"}}}}}"#,
    r#"{"new": {"class": "Node", "children": [], "aux": {"dict": {"cap": 2, "kind": {"str": "ring"}}}}}"#,
    "x.aux['cap']",
    "4",
    "2"
)]
#[case::in_a_graph(
    r#"{"new": {"class": "Graph", "fields": {"a": 1, "d": {"new": {"class": "Drop", "fields": {"deterministic": false, "rate": 0.5}}}}}}"#,
    r#"{"new": {"class": "Graph", "fields": {"a": 1, "d": {"new": {"class": "Drop", "fields": {"deterministic": true, "rate": 0.5}}}}}}"#,
    "x.d.deterministic", "False", "True"
)]
#[case::another_attribute(
    r#"{"new": {"class": "Graph", "fields": {"a": 1, "d": null}}}"#,
    r#"{"new": {"class": "Graph__2", "fields": {"a": 1, "d": null, "bias": true}}}"#,
    "x.bias",
    "absent",
    "True"
)]
#[case::a_method_of_an_object_that_differs(
    r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "apply_1"}}}"#,
    r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "apply_2"}}}"#,
    "x.aux",
    "<bound method Net.apply of Net(width=4)>",
    "<bound method Net.apply of Net(width=8)>"
)]
#[case::a_class_that_was_defined_again(
    r#"{"new": {"class": "Node", "children": [], "aux": {"new": {"class": "Net", "fields": {"width": 4, "name": null}}}}}"#,
    r#"{"new": {"class": "Node", "children": [], "aux": {"new": {"class": "Net__2", "fields": {"width": 4, "name": null}}}}}"#,
    "x.aux.__class__",
    "Net",
    "another Net"
)]
#[case::a_tuple_without_items(r#"{"tuple": [1]}"#, r#"{"tuple": []}"#, "x", "tuple of 1", "tuple of 0")]
fn data_are_taken_apart(
    #[case] before: &str,
    #[case] after: &str,
    #[case] path: &str,
    #[case] was: &str,
    #[case] is: &str,
) {
    let says = r#"{"classes": {"Node": {"node": {}}, "Graph": {"dataclass": {"data": [], "meta": ["a", "d"]}},
        "Graph__2": {"dataclass": {"data": [], "meta": ["a", "d", "bias"]}},
        "Drop": {"dataclass": {"data": [], "meta": ["deterministic", "rate"]}},
        "Net": {"plain_dataclass": {"fields": ["width", "name"], "frozen": true}},
        "Net__2": {"plain_dataclass": {"fields": ["width", "name"], "frozen": true}}},
        "objects": {"net_1": {"new": {"class": "Net", "fields": {"width": 4, "name": null}}},
        "net_2": {"new": {"class": "Net", "fields": {"width": 8, "name": null}}},
        "apply_1": {"method": {"of": {"ref": "net_1"}, "name": "Net.apply"}},
        "apply_2": {"method": {"of": {"ref": "net_2"}, "name": "Net.apply"}}, "step_1": {"def": {"name": "step at a.py:1", "params": ["x"]}}}, "#;
    let first = line("jax.jit", before, "", TRACED).replacen('{', &says.replace('\n', " "), 1);
    let explained = explained(&[first, line("jax.jit", after, "", TRACED)]);
    let [difference] = explained.calls[1].differences() else { panic!("{explained:#?}") };
    let Difference { path: found, before, after, .. } = difference;
    assert_eq!((found.as_str(), before.as_str(), after.as_str()), (path, was, is));
}

/// Each call takes a form of its own of what was passed before: the nearest key is that of the same program.
#[test]
fn a_miss_of_the_fast_path_is_compared_with_the_same_program() {
    let fast = r#""dispatch""#;
    let explained = explained(&[
        first("jax.jit", r#""f32[2]", "f32[2]", "f32[8]""#, ""),
        line("jax.jit", r#""np:f32[2]", "np:f32[2]", "f32[4]""#, "", TRACED),
        line("jax.jit", r#""f32[2]", "f32[2]", "f32[4]""#, "", fast),
    ]);
    let call = &explained.calls[2];
    assert_eq!(call.explanation().unwrap().nearest, Nearest::Call(2), "{explained:#?}");
    assert!(call.differences().iter().all(|difference| difference.component == "sharding"), "{explained:#?}");
}

/// A value that comes and goes reaches no fixed point, though both of its programs are there in the end.
#[test]
fn what_alternates_is_no_state() {
    let (one, other) = (r#""f32[]""#, r#""i32[]""#);
    let mut lines = vec![first("jax.jit", one, ""), line("jax.jit", other, "", TRACED)];
    for _ in 0..3 {
        lines.extend([line("jax.jit", one, "", ""), line("jax.jit", other, "", "")]);
    }
    assert!(explained(&lines).patterns.is_empty());
}

/// A flag that a body may look at makes no wrong result by itself.
#[test]
fn a_hit_under_another_flag_is_perhaps_stale() {
    let flag = r#", "context": {"flags": {"jax_default_prng_impl": {"str": "rbg"}}}"#;
    let explained = explained(&[first("jax.jit", "1", ""), line("jax.jit", "1", flag, "")]);
    let found: Vec<_> = explained.patterns.iter().map(|pattern| pattern.id.as_str()).collect();
    assert_eq!(found, ["stale-under-other-flags"], "{explained:#?}");
    assert!(explained.patterns[0].says.contains(r#"jax_default_prng_impl="rbg" was none"#), "{explained:#?}");
}

/// What a program raises as it runs is no miss of a cache, and what was made for it is there afterwards.
#[rstest]
#[case("XlaRuntimeError", "", true)]
#[case("ValueError", "INTERNAL: CpuCallback error calling callback", true)]
#[case("ValueError", "", false)]
fn an_error_of_the_program_itself(#[case] class: &str, #[case] message: &str, #[case] as_it_ran: bool) {
    let raised = format!(r#"{{"error": {{"class": "{class}", "message": "{message}"}}, "#);
    let lines = [
        first("jax.jit", r#""f32[2]""#, "").replacen('{', &raised, 1),
        line("jax.jit", r#""f32[2]""#, "", "").replacen('{', &raised, 1),
        line("jax.jit", r#""f32[2]""#, "", ""),
    ];
    let explained = explained(&lines);
    assert_eq!(explained.calls.iter().all(ExplainedCall::is_predicted), as_it_ran, "{explained:#?}");
}

/// Two functions that are made in one place are two as long as both are there, and one in its next form if the first is gone.
#[rstest]
#[case("", "", 0)]
#[case("", r#""ended": ["w_1"], "#, 1)]
#[case(r#"{"clear": "equinox"}"#, r#""ended": ["w_1"], "#, 1)]
#[case(r#"{"clear": "jax"}"#, r#""ended": ["w_1"], "#, 0)]
fn functions_of_one_place_are_told_apart(#[case] between: &str, #[case] ended: &str, #[case] again: usize) {
    let of = |wrapper: u32, news: &str| {
        let call = line("jax.jit", "1", "", TRACED).replace("step_1", &format!("step_{wrapper}"));
        let news = format!(r#"{{"wrapper": "w_{wrapper}", {news} "objects": {{"step_{wrapper}": {{"def": {{}}}}}}, "#);
        call.replacen('{', &news, 1)
    };
    let lines: Vec<_> =
        [of(1, ""), between.to_owned(), of(2, ended)].into_iter().filter(|line| !line.is_empty()).collect();
    let explained = explained(&lines);
    assert_eq!(explained.calls.iter().filter(|call| call.is_again()).count(), again, "{explained:#?}");
}

/// A call that compiles ends after one that another thread makes meanwhile, and finds what the first one left.
#[test]
fn calls_are_in_the_order_in_which_they_began() {
    let numbered = |number: usize, line: String| line.replacen('{', &format!("{{\"number\": {number}, "), 1);
    let explained = explained(&[
        r#"{"clear": "jax", "after": 3}"#.to_owned(),
        numbered(3, r#"{"api": "jax.jit", "name": "step", "at": "a.py:1", "again": 1, "missed": []}"#.to_owned()),
        numbered(2, line("jax.jit", "1", "", "")),
        numbered(1, first("jax.jit", "1", "")),
        numbered(4, line("jax.jit", "1", "", TRACED)),
    ]);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted), "{explained:#?}");
    assert_eq!(
        explained.calls.iter().map(|call| call.observed == Verdict::HIT).collect::<Vec<_>>(),
        [false, true, true, false]
    );
}

/// What a body does besides with some arguments keeps these off the fast path each time, and no others.
#[test]
fn a_call_with_an_effect_is_never_fast() {
    let noisy = |line: String| line.replacen('{', r#"{"effect": "unordered", "#, 1);
    let lines = [
        first("jax.jit", "1", ""),
        noisy(line("jax.jit", "1.0", "", TRACED)),
        noisy(line("jax.jit", "1.0", "", r#""dispatch""#)),
        line("jax.jit", "1", "", ""),
    ];
    let explained = explained(&lines);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted), "{explained:#?}");
}

/// Three wrappers, each used up before the next, are made by a loop, whether or not they are gone.
#[test]
fn wrappers_one_after_the_other_are_one_function() {
    let of = |wrapper: u32| {
        let call = line("jax.jit", "1", "", TRACED).replace("step_1", &format!("step_{wrapper}"));
        let news = format!(r#"{{"wrapper": "w_{wrapper}", "objects": {{"step_{wrapper}": {{"def": {{}}}}}}, "#);
        call.replacen('{', &news, 1)
    };
    let again = |wrappers: &[u32]| {
        let lines: Vec<_> = wrappers.iter().map(|wrapper| of(*wrapper)).collect();
        explained(&lines).calls.iter().filter(|call| call.is_again()).count()
    };
    assert_eq!([again(&[1, 2]), again(&[1, 2, 3])], [0, 2]);
}

/// What doesn't matter stays as it is in the repaired call.
#[test]
fn a_repair_changes_what_matters() {
    let explained = explained(&[
        first("jax.jit", r#"["f32[2]", {"dict": {"a": "i32[]", "b": 1}}], "f32[]""#, ""),
        line("jax.jit", r#"["f32[3]", {"dict": {"a": "~i32[]", "b": 2}}], "f32[]""#, "", TRACED),
    ]);
    assert_eq!(explained.calls[1].tried, Some(Tried { mends: true, minimal: true }));
    let [_, repaired] = explained.cases(2, &SPEC).unwrap();
    let args = serde_json::to_value(&repaired.case.calls().last().unwrap().args).unwrap();
    assert_eq!(args, serde_json::json!([["f32[2]", {"dict": {"a": "i32[]", "b": 2}}], "f32[]"]));
}

/// What nnx.jit hands to jax.jit is a graphdef and a state.
#[test]
fn a_graphdef_is_read_attribute_by_attribute() {
    let explained = record("nnx_optimizer", NEWEST);
    let calls: Vec<_> = explained.calls.iter().filter(|call| call.is_again()).collect();
    assert_eq!(calls.len(), 2, "{}", text(&explained, Style::PLAIN));
    for call in calls {
        assert_eq!(call.differences()[0].path, "trainer._graphdef.tx.init");
        assert_eq!(call.advice[0].as_ref().unwrap().cause, "optimizer-made-anew");
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
    assert!(explained.patterns.is_empty(), "{:#?}", explained.patterns);
}

/// Whole programs, of several libraries: every call does what the model says, and prints the same.
#[rstest]
fn a_program_is_predicted(
    #[values(
        "training_linen",
        "training_equinox",
        "training_sharded",
        "threads_and_effects",
        "nested_calls",
        "meshes",
        "references",
        "statics_and_data",
        "library_functions",
        "call_forms",
        "control_flow",
        "donations",
        "nnx_graphs",
        "nnx_loops",
        "deletions",
        "lifetimes",
        "shared_functions",
        "held_objects",
        "converted_objects",
        "outputs_placed"
    )]
    program: &str,
    #[values(NEWEST, "0.4.30")] version: &str,
) {
    record(program, version);
}

/// An object is said by what it holds if `==` looks at that, and is another one if nothing but itself finds it.
#[rstest]
fn an_object_is_said_by_what_finds_it(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("statics_and_data", version);
    let named: Vec<_> = explained.calls.iter().filter(|call| call.name == "<lambda>" && call.is_again()).collect();
    let said: Vec<_> = named
        .iter()
        .filter_map(|call| {
            let found = call.differences().iter().find(|found| found.path == "by")?;
            let cause = &call.advice.first()?.as_ref()?.cause;
            Some(format!("{}: {} after {}: {cause}", found.component, found.after, found.before))
        })
        .collect();
    let expected = [
        "static value: Equal(name='b') after Equal(name='a'): static-argument",
        "static value: Sized(name='a') after Equal(name='b'): static-argument",
        "static hash: another Sized(name='a') after Sized(name='a'): hash-contradicts-equality",
        "static value: Sized(name='b') after Sized(name='a'): static-argument",
        "static value: <Alone> after Sized(name='b'): static-argument",
        "static value: another <Alone> after <Alone>: object-without-equality",
        "static value: another <Alone> after <Alone>: object-without-equality",
        "static value: <Named name='a'> after <Alone>: static-argument",
        "static value: another <Named name='a'> after <Named name='a'>: object-without-equality",
        "static value: <Named name='b'> after <Named name='a'>: another-object-without-equality",
    ];
    assert_eq!(said, expected);
    let told: Vec<_> = explained
        .calls
        .iter()
        .filter(|call| call.name == "<lambda>" && call.is_again())
        .filter_map(|call| {
            let found = call.differences().iter().find(|found| found.path == "what")?;
            Some(format!("{}: {}", found.after, call.advice.first()?.as_ref()?.cause))
        })
        .collect();
    let expected = [
        "pathlib.Path(\"b\"): static-argument",
        "b'a': static-argument",
        "b'b': static-argument",
        "<Agent rate=1, act=<PjitFunction of root at statics_and_data.py:115>>: static-argument",
        "another <Agent rate=1, act=<PjitFunction of root at statics_and_data.py:115>>: object-that-holds-functions",
        "<Agent rate=2, act=<PjitFunction of root at statics_and_data.py:115>>: another-object-without-equality",
    ];
    assert_eq!(told, expected);
}

/// What differs is named as the program names it, and nothing that follows from it is beside it.
#[rstest]
fn what_differs_has_a_name(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("call_forms", version);
    let again: Vec<_> = explained.calls.iter().filter(|call| call.is_again()).collect();
    let said: Vec<_> = again
        .iter()
        .map(|call| {
            let places = call.differences().iter().map(|found| format!("{} of {}", found.component, found.path));
            format!("{} {}: {}", call.number, call.name, places.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let expected = [
        "2 total: argument of rest[1]",
        "4 step: static argument of train",
        "6 _plain: shape of x",
        "8 _step: shape of x",
        if version == "0.4.30" { "9 _step: dtype of net['bias'].value" } else { "9 _step: dtype of net.bias" },
        "11 <lambda>: shape of it.right",
        "14 lax.fori_loop: number of steps of ",
        "16 lax.fori_loop: shape of (i, init_val)[1], weak_type of (i, init_val)[1]",
        "18 lax.map: wrapping of lax.map",
        "26 partial of blend: dtype of y",
        "33 filter_value_and_grad of loss: shape of batch",
        "35 value_and_grad of both: shape of x",
        "37 <lambda>: shape of y",
    ];
    assert_eq!(said, expected);
    assert!(again.iter().all(|call| call.tried.is_none_or(|tried| tried.mends && tried.minimal)));
    let from = again.last().and_then(|call| call.from.as_deref()).unwrap_or_default();
    assert!(from.starts_with("functools.py:") && from.contains(" (from call_forms.py:"), "{from}");
}

/// What holds a difference is looked into, whatever it is.
#[rstest]
fn what_is_held_has_a_name(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("held_objects", version);
    let again = explained.calls.iter().filter(|call| call.is_again());
    let said: Vec<_> = again
        .map(|call| {
            let places = call.differences().iter().map(|found| format!("{} of {}", found.component, found.path));
            format!("{}: {}", call.name, places.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let expected = [
        "<lambda>: static value of config.optim.rate",
        "<lambda>: static value of net.width",
        "forward: structure of module._graphdef.mode",
        "<lambda>: shape of tokens",
        "<lambda>: shape of tokens",
        "step: shape of batch",
        "init: function of ",
        "init: function of ",
    ];
    assert_eq!(said, expected);
    assert_eq!(explained.calls.last().unwrap().name, "init");
}

/// An object that is compared by identity and changed in place is served what was traced before; what the body doesn't read of it
/// may change.
#[rstest]
fn an_object_that_is_changed_in_place_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("changed_objects", version);
    let said: Vec<_> = explained.patterns.iter().map(|pattern| format!("{}: {}", pattern.id, pattern.says)).collect();
    let changed = |what: &str, says: &str| {
        format!(
            "changed-in-place: {what} hit a program that was traced when an object held something else - object changed in \
             place at {says}. The object is compared by identity, so that no key sees what it holds, and what the body reads of it \
             is in the program as it was."
        )
    };
    let expected = [
        changed("calls 5 and 8 of value", "Agent.params: <dict 2> was <dict 1>"),
        changed("call 10 of act", "Agent.gain: 0.25 was 0.5"),
        changed("call 11 of _update", "Agent.gain: 0.25 was 0.5"),
    ];
    assert_eq!(said, expected);
}

/// What only jax asks for its array is off the fast path, and says so.
#[test]
fn an_object_that_is_asked_for_its_array_is_slow() {
    let explained = record("converted_objects", "0.6.2");
    let slow = explained
        .calls
        .iter()
        .filter(|call| call.advice.iter().flatten().any(|advice| advice.cause == "asked-for-its-array"));
    assert_eq!(slow.map(|call| call.number).collect::<Vec<_>>(), [2, 3, 4]);
}

/// jax's own functions under a program's jit are the program's calls, and what a library traces of the program is none.
#[test]
fn functions_of_a_library_are_recorded() {
    assert_eq!(record("library_functions", NEWEST).calls.len(), 28);
}

/// Each function of a loop has a key of its own, and each that isn't found is named, whether or not one like it was there.
#[rstest]
#[case::both_anew("cond_2", "body_2", &["cond_fun: another cond after cond", "body_fun: another body after body"])]
#[case::one_anew("cond_1", "body_2", &["body_fun: another body after body"])]
#[case::another("other", "body_1", &["cond_fun: other after cond"])]
#[case::another_beside_one_anew("other", "body_2", &["cond_fun: other after cond", "body_fun: another body after body"])]
fn the_functions_of_a_loop_have_names(#[case] cond: &str, #[case] body: &str, #[case] expected: &[&str]) {
    let objects: Vec<_> =
        [("cond_1", "cond"), ("cond_2", "cond"), ("other", "other"), ("body_1", "body"), ("body_2", "body")]
            .iter()
            .map(|(id, name)| {
                let returns = if name.starts_with("body") { "" } else { r#", "returns": false"# };
                format!(r#""{id}": {{"def": {{"name": "{name}"{returns}}}}}"#)
            })
            .collect();
    let call = |cond: &str, body: &str| {
        format!(
            r#"{{"api": "lax.while_loop", "name": "lax.while_loop", "at": "a.py:1", "from": "a.py:9",
                "call": {{"args": [{{"ref": "{cond}"}}, {{"ref": "{body}"}}, "f32[]"]}}, "missed": [{TRACED}]}}"#
        )
        .replace('\n', " ")
    };
    let first = call("cond_1", "body_1").replacen('{', &format!(r#"{{"objects": {{{}}}, "#, objects.join(", ")), 1);
    let explained = explained(&[first, call(cond, body)]);
    let again = &explained.calls[1];
    assert_eq!(again.explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    let said = again.differences().iter().map(|found| {
        let [before, after] = [&found.before, &found.after].map(|text| text.replace("<function ", "").replace('>', ""));
        format!("{}: {after} after {before}", found.path)
    });
    assert_eq!(said.collect::<Vec<_>>(), expected, "{explained:#?}");
    assert_eq!(again.tried, Some(Tried { mends: true, minimal: true }), "{explained:#?}");
}

/// Two lambdas of one line look the same before Python 3.11, and none of them is near to the other in one call.
#[test]
fn the_functions_of_a_loop_can_look_the_same() {
    let objects =
        (1..5).map(|i| format!(r#""f_{i}": {{"def": {{"name": "<lambda>"}}}}"#)).collect::<Vec<_>>().join(", ");
    let call = |one: u32, other: u32| {
        format!(
            r#"{{"api": "lax.cond", "name": "lax.cond", "at": "a.py:1", "from": "a.py:9",
                "call": {{"args": [true, {{"ref": "f_{one}"}}, {{"ref": "f_{other}"}}, "f32[]"]}}, "missed": [{TRACED}]}}"#
        )
        .replace('\n', " ")
    };
    let first = call(1, 2).replacen('{', &format!(r#"{{"objects": {{{objects}}}, "#), 1);
    let explained = explained(&[first, call(3, 4)]);
    let again = &explained.calls[1];
    assert_eq!(again.explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    let paths: Vec<_> = again.differences().iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, ["true_fun", "false_fun"], "{explained:#?}");
}

/// What was compiled beside the calls is counted by the line of the program, though no call is recorded.
#[test]
fn what_is_compiled_beside_the_calls_is_counted() {
    let beside =
        |name: &str, from: &str| format!(r#"{{"beside": {{"name": "{name}", "from": "{from}"}}, "after": 0}}"#);
    let explained = explained(&[
        beside("dot", "a.py:3"),
        beside("norm", "a.py:9"),
        beside("add", "a.py:9"),
        beside("norm", "a.py:9"),
        r#"{"beside": {"from": "b.py:1"}, "after": 0}"#.to_owned(),
    ]);
    let said = text(&explained, Style::PLAIN);
    let expected = "5 compiles beside the calls, of what jax and libraries jit themselves: 3 at a.py:9 (norm 2 times), 1 at a.py:3 \
                    and 1 at b.py:1";
    assert!(said.contains(expected), "{said}");
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

/// A recording of these lines, explained.
fn explained(lines: &[impl AsRef<str>]) -> Explained {
    let mut content = format!("{{\"recording\": 1, \"about\": {{\"jax\": \"{NEWEST}\"}}}}\n");
    for line in lines {
        content += line.as_ref();
        content.push('\n');
    }
    Recording::read(&content).and_then(|recording| Explained::of(recording, &SPEC)).unwrap()
}

/// The line of a call of `step`, made in a loop, which is given `args`.
fn line(api: &str, args: &str, more: &str, missed: &str) -> String {
    format!(
        r#"{{"api": "{api}", "name": "step", "at": "a.py:1", "from": "a.py:9",
            "call": {{"function": {{"ref": "step_1"}}, "args": [{args}] {more}}}, "missed": [{missed}]}}"#
    )
    .replace('\n', " ")
}

/// The first line of all of them: it says what `step` is.
fn first(api: &str, args: &str, more: &str) -> String {
    let says = r#"{"objects": {"step_1": {"def": {"name": "step at a.py:1"}}}, "#;
    line(api, args, more, TRACED).replacen('{', says, 1)
}

const TRACED: &str = r#""dispatch", "trace", "lower", "compile""#;

/// What is no value of a case is known of the one call, of those that say that they repeat it, and of no other.
#[rstest]
#[case::a_lone_surrogate(r#"{"str": "\ud800"}"#.to_owned(), "", "hex escape")]
#[case::a_deep_tree("[".repeat(200) + &"]".repeat(200), "", "recursion limit")]
#[case::no_value(r#"{"something": 1}"#.to_owned(), "", "something")]
#[case::an_unknown_object(r#"{"ref": "gone_9"}"#.to_owned(), "", "`gone_9`")]
#[case::no_parts(r#"{"new": {"class": "C"}}"#.to_owned(), r#""classes": {"C": {"namedtuple": ["a"]}}"#, "`args` is missing")]
#[case::a_name_in_no_ascii(r#"{"new": {"class": "C", "args": []}}"#.to_owned(), r#""classes": {"C": {"namedtuple": ["größe"]}}"#, "größe")]
#[case::its_own_base(r#"{"new": {"class": "C", "value": 1}}"#.to_owned(), r#""classes": {"C": {"subclass": {"of": "C"}}}"#, "no class `C`")]
#[case::an_object_that_is_none(r#"{"ref": "r_1"}"#.to_owned(), r#""objects": {"r_1": {"range": []}}"#, "TypeError")]
fn what_cannot_be_read_is_one_call(#[case] value: String, #[case] news: &str, #[case] reason: &str) {
    let news = if news.is_empty() { String::new() } else { format!("{news}, ") };
    let strange = line("jax.jit", &value, "", TRACED).replacen('{', &format!("{{{news}"), 1);
    let again = r#"{"api": "jax.jit", "name": "step", "at": "a.py:1", "again": 2, "missed": []}"#;
    let lines = [
        first("jax.jit", "1", ""),
        strange,
        again.to_owned(),
        line("jax.jit", r#""f32[2]""#, "", TRACED),
        again.replace('2', "4"),
    ];
    let explained = explained(&lines);
    let predicted: Vec<_> = explained.calls.iter().map(ExplainedCall::is_predicted).collect();
    assert_eq!(predicted, [true, false, false, true, true], "{explained:#?}");
    for call in &explained.calls[1..3] {
        let why = call.unpredicted.as_ref().unwrap();
        assert!(why.contains(reason), "{why}");
    }
}

/// A miss without a key nearby says why there is none.
#[rstest]
#[case::effect(r#", "via": "call""#, r#""effect": "unordered", "#, TRACED, "", r#""dispatch""#, "effect")]
#[case::cleared("", "", TRACED, r#"{"clear": "jax"}"#, TRACED, "cleared")]
#[case::failed(
    "",
    r#""error": {"class": "ValueError", "message": ""}, "#,
    r#""dispatch", "trace""#,
    "",
    TRACED,
    "failed-before"
)]
#[case::ahead(
    r#", "via": "lower""#,
    "",
    r#""trace", "lower""#,
    r#"{"aside": {"api": "jax.jit", "again": 1, "via": "compile"}, "after": 1}"#,
    r#""dispatch""#,
    "ahead-of-time"
)]
fn a_miss_with_nothing_near_says_why(
    #[case] via: &str,
    #[case] did: &str,
    #[case] missed: &str,
    #[case] between: &str,
    #[case] missed_then: &str,
    #[case] cause: &str,
) {
    let with =
        |line: String, number: usize, did: &str| line.replacen('{', &format!(r#"{{"number": {number}, {did}"#), 1);
    let one = first("jax.jit", "1", via).replacen(TRACED, missed, 1);
    let other = line("jax.jit", "1", "", missed_then);
    let again = if cause == "effect" { did } else { "" };
    let mut lines = vec![with(one, 1, did)];
    lines.extend((!between.is_empty()).then(|| between.replace(r#"jax"}"#, r#"jax", "after": 1}"#)));
    lines.push(with(other, 2, again));
    let explained = explained(&lines);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted), "{explained:#?}");
    let call = &explained.calls[1];
    assert_eq!(call.explanation().unwrap().nearest, Nearest::Nothing);
    let [difference] = call.differences() else { panic!("{explained:#?}") };
    let [Some(advice)] = &call.advice[..] else { panic!("{explained:#?}") };
    assert_eq!((difference.path.as_str(), advice.cause.as_str()), ("step", cause));
    let said = text(&explained, Style::PLAIN);
    assert!(said.contains("No key is near to it:") && said.contains(&advice.says), "{said}");
    assert!(call.tried.is_none() && explained.repair(2, &SPEC).is_none());
}

/// After a clearing the only key can be that of another function, made in the same place: that one says nothing.
#[test]
fn another_function_is_not_what_is_near() {
    let of = |function: &str| {
        line("jax.jit", "1", "", TRACED)
            .replace("step_1", function)
            .replace("\"name\": \"step\"", &format!(r#""name": "step", "wrapper": "of_{function}""#))
    };
    let objects =
        r#""objects": {"f_1": {"def": {"name": "step at a.py:1"}}, "f_2": {"def": {"name": "step at a.py:1"}}}, "#;
    let cleared = r#"{"clear": "jax", "after": 2}"#.to_owned();
    let told = of("f_1").replacen('{', &format!("{{{objects}"), 1);
    let mut lines = vec![told, of("f_2"), cleared, of("f_1"), of("f_2")];
    for (line, number) in lines.iter_mut().filter(|line| line.contains("api")).zip(1..) {
        *line = line.replacen('{', &format!(r#"{{"number": {number}, "#), 1);
    }
    let explained = explained(&lines);
    for call in &explained.calls[2..] {
        assert!(call.is_predicted() && call.is_again(), "{explained:#?}");
        assert_eq!(call.advice[0].as_ref().unwrap().cause, "cleared", "{explained:#?}");
    }
}

/// Nor is a program of another function that was lowered from as many leaves, whatever its options were.
#[test]
fn what_another_function_was_lowered_to_is_not_near() {
    let one = || first("jax.jit", "1", "");
    let donates = line("jax.jit", "1", r#", "options": {"donate_argnums": [0]}"#, TRACED)
        .replace("step_1", "update_1")
        .replace(r#""name": "step""#, r#""name": "update""#)
        .replace("a.py:1", "a.py:5")
        .replacen('{', r#"{"objects": {"update_1": {"def": {"name": "update at a.py:5"}}}, "#, 1);
    let mut lines =
        vec![one(), r#"{"clear": "jax", "after": 1}"#.to_owned(), donates, line("jax.jit", "1", "", TRACED)];
    for (line, number) in lines.iter_mut().filter(|line| line.contains("api")).zip(1..) {
        *line = line.replacen('{', &format!(r#"{{"number": {number}, "#), 1);
    }
    let explained = explained(&lines);
    let last = &explained.calls[2];
    assert!(last.is_predicted() && last.is_again(), "{explained:#?}");
    assert_eq!(last.advice[0].as_ref().unwrap().cause, "cleared", "{explained:#?}");
}

/// Nor does what can't be read of an aside matter to more than that.
#[rstest]
#[case::a_lone_surrogate(r#"{"str": "\ud800"}"#.to_owned())]
#[case::a_deep_tree("[".repeat(200) + &"]".repeat(200))]
fn an_aside_that_cannot_be_read_is_left_out(#[case] value: String) {
    let aside = format!(
        r#"{{"aside": {{"api": "jax.jit", "call": {{"function": {{"ref": "f_2"}}, "args": [{value}], "via": "trace"}}}}, "after": 1, "#
    );
    let says = r#""objects": {"f_2": {"def": {"name": "f at a.py:3"}}}}"#;
    let with = |line: String, number: usize| line.replacen('{', &format!(r#"{{"number": {number}, "#), 1);
    let other = line("jax.jit", "1", "", TRACED).replace("step_1", "f_2").replace("a.py:1", "a.py:3");
    let explained = explained(&[with(first("jax.jit", "1", ""), 1), aside + says, with(other, 2)]);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted), "{explained:#?}");
}

/// A key of no call of the recording is nearest: the text says so, and there is nothing to repair.
#[test]
fn what_is_nearest_can_be_an_aside() {
    let aside = r#"{"aside": {"api": "jax.jit", "call": {"function": {"ref": "step_1"}, "args": ["i32[7]"], "via": "trace"}},
        "after": 0, "objects": {"step_1": {"def": {"name": "step at a.py:1"}}}}"#;
    let with = |args: &str, number: usize| {
        line("jax.jit", args, "", TRACED).replacen('{', &format!(r#"{{"number": {number}, "#), 1)
    };
    let explained = explained(&[aside.replace('\n', ""), with(r#""f32[2,2]""#, 1), with(r#""i32[5]""#, 2)]);
    let call = &explained.calls[1];
    let explanation = call.explanation().unwrap();
    assert!(explanation.nearest == Nearest::Aside(0) && call.is_predicted(), "{explained:#?}");
    assert!(call.tried.is_none() && explained.repair(2, &SPEC).is_none());
    let said = text(&explained, Style::PLAIN);
    assert!(
        said.contains(
            "that of one that was traced inside of another or compiled ahead of time, before the first call:"
        ),
        "{said}"
    );
}

#[rstest]
#[case(r#""again": 7"#, "it repeats call 7, and there is no such call of jax.jit before it")]
#[case(r#""again": 0"#, "it repeats call 0, and there is no such call of jax.jit before it")]
#[case(r#""again": 3"#, "it repeats call 3, and there is no such call of jax.jit before it")]
#[case(r#""again": 2"#, "it repeats call 2, of which nothing is known: recording a slice")]
#[case(r#""from": "a.py:2""#, "its line doesn't say what it was given")]
fn a_call_that_repeats_nothing_says_so(#[case] again: &str, #[case] reason: &str) {
    let unrecorded = r#"{"api": "jax.jit", "name": "step", "unrecorded": "recording a slice", "missed": []}"#;
    let call = format!(r#"{{"api": "jax.jit", "name": "step", {again}, "missed": []}}"#);
    let explained = explained(&[first("jax.jit", "1", ""), unrecorded.to_owned(), call]);
    assert_eq!(explained.calls[2].unpredicted.as_deref(), Some(reason));
}

/// What the calls of one function show together: the id, the calls and the paths.
#[rstest]
#[case::nothing("jax.jit", &[r#""f32[2]""#, r#""f32[2]""#, r#""f32[2]""#], &[])]
#[case::one_miss_is_none("jax.jit", &[r#""f32[2]""#, r#""f32[3]""#, r#""f32[2]""#], &[])]
#[case::fresh_callable(
    "equinox.filter_jit",
    &[r#"{"ref": "f_1"}"#, r#"{"ref": "f_2"}"#, r#"{"ref": "f_3"}"#],
    &["fresh-callable: args[0] in calls 2 and 3, 2 of 2"]
)]
#[case::static_number(
    "equinox.filter_jit",
    &[r#"1, "f32[2]""#, r#"2, "f32[2]""#, r#"2, "f32[2]""#, r#"3, "f32[2]""#],
    &["static-number-each-call: args[0] in calls 2 and 4, 2 of 2"]
)]
#[case::numbers_that_recur(
    "equinox.filter_jit",
    &["1", "2", "1", "2", "1", "2", "3", "1", "2"],
    &[]
)]
#[case::shape(
    "jax.jit",
    &[r#""f32[1]""#, r#""f32[2]""#, r#""f32[3]", "f32[]""#, r#""f32[4]", "f32[]""#],
    &["shape-each-call: args[0] in calls 2, 3 and 4, 2 of 3"]
)]
#[case::late_fixed_point(
    "jax.jit",
    &[r#"1, null"#, r#""i32[]", null"#, r#""i32[]", null"#],
    &["late-fixed-point: args[0] in call 2, 1 of 1"]
)]
#[case::two_compiles_late(
    "jax.jit",
    &[r#"[1, null]"#, r#"["i32[]", null]"#, r#"["i32[]", 1.0]"#, r#"["i32[]", 1.0]"#],
    &["late-fixed-point: args[0][0], args[0][1] in calls 2 and 3, 2 of 2"]
)]
#[case::no_fixed_point(
    "jax.jit",
    &[r#"["f32[]"]"#, r#"["f32[]", "f32[]"]"#, r#"["f32[]", "f32[]", "f32[]"]"#],
    &["no-fixed-point: args[0] in calls 2 and 3, 2 of 2"]
)]
#[case::a_number_that_was_used_before(
    "equinox.filter_jit",
    &["1", "2", r#"2, "f32[]""#, "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"],
    &["static-number-each-call: args[0] in calls 2, 4, 5, 6, 7, 8 and 5 more, 11 of 11"]
)]
#[case::wrapper_in_a_loop(
    "jax.jit",
    &[r#"1 | "function": {"ref": "f_1"}"#, r#"1 | "function": {"ref": "f_2"}"#, r#"1 | "function": {"ref": "f_3"}"#],
    &["wrapper-in-a-loop:  in calls 2 and 3, 2 of 2"]
)]
#[case::a_cause_that_brings_others(
    "jax.jit",
    &[
        r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_1"}}}, "f32[4]""#,
        r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_1"}}}, "f32[3]""#,
        r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_2"}}}, "f32[4]""#,
        r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_2"}}}, "f32[3]""#,
        r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_3"}}}, "f32[4]""#,
        r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_3"}}}, "f32[3]""#,
    ],
    &["fresh-callable: args[0].aux in calls 3 and 5, 4 of 2"]
)]
#[case::an_equal_number_of_numpy(
    "jax.jit",
    &[
        r#"{"new": {"class": "Node", "children": [], "aux": {"tuple": [2, 3]}}}"#,
        r#"{"new": {"class": "Node", "children": [], "aux": {"tuple": [{"numpy_scalar": ["i64", 2]}, 3]}}}"#,
    ],
    &["equal-number-of-numpy: args[0].aux in call 2, 0 of 0"]
)]
#[case::a_dtype_in_another_form(
    "jax.jit",
    &[
        r#"{"new": {"class": "Node", "children": [], "aux": {"dtype": "f32"}}}"#,
        r#"{"new": {"class": "Node", "children": [], "aux": {"dtype": "f32"}}}"#,
    ],
    &[]
)]
#[case::a_masked_array(
    "jax.jit",
    &[r#""np:f32[2]""#, r#"{"array": {"aval": "np:f32[2]", "subclass": "masked"}}"#],
    &["hit-that-hides-an-error: args[0] in call 2, 0 of 0"]
)]
#[case::a_function_that_is_filtered_in_a_loop(
    "equinox.filter_jit",
    &[r#"1 | "function": {"ref": "f_1"}"#, r#"1 | "function": {"ref": "f_2"}"#, r#"1 | "function": {"ref": "f_3"}"#],
    &["wrapper-in-a-loop: fun in calls 2 and 3, 2 of 2"]
)]
#[case::stale_hit(
    "jax.jit",
    &[r#"{"new": {"class": "Node", "children": [], "aux": 1}}"#, r#"{"new": {"class": "Node", "children": [], "aux": true}}"#],
    &["stale-hit: args[0].aux in call 2, 0 of 0"]
)]
fn what_calls_show_together(#[case] api: &str, #[case] args: &[&str], #[case] expected: &[&str]) {
    let objects: Vec<_> = (1..4).map(|i| format!(r#""f_{i}": {{"def": {{"name": "<lambda>"}}}}"#)).collect();
    let news = format!(
        r#""classes": {{"Node": {{"node": {{}}}}}}, "objects": {{"step_1": {{"def": {{"name": "step"}}}}, {}}},"#,
        objects.join(", ")
    );
    // What the calls miss is what the model says: the patterns are of calls that it predicts.
    let lines = |missed: &[String]| -> Vec<String> {
        let missed = missed.iter().map(String::as_str).chain(std::iter::repeat(""));
        let of_call = |(args, missed): (&&str, &str)| {
            let (args, more) =
                args.split_once(" | ").map_or((*args, String::new()), |(args, more)| (args, format!(", {more}")));
            line(api, args, &more, missed)
        };
        let mut lines: Vec<_> = args.iter().zip(missed).map(of_call).collect();
        lines[0] = lines[0].replacen('{', &format!("{{{news}"), 1);
        lines
    };
    let predicted: Vec<_> = explained(&lines(&[])).calls.into_iter().map(|call| call.predicted.unwrap()).collect();
    let missed: Vec<_> = predicted
        .iter()
        .map(|verdict| match verdict {
            Verdict::Missed(missed) => missed.iter().map(|layer| format!("\"{layer}\"")).collect::<Vec<_>>().join(", "),
            Verdict::Error(class) => panic!("{class}"),
        })
        .collect();
    let explained = explained(&lines(&missed));
    let shown = explained.patterns.iter().map(|pattern| {
        let Pattern { id, paths, calls, saves, compiles, .. } = pattern;
        format!("{id}: {} in {}, {saves} of {compiles}", paths.join(", "), numbered(calls))
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected, "{}", text(&explained, Style::PLAIN));
}

/// Calls that differ in numbers only stand together, and what they have is said of few of them.
#[test]
fn calls_that_are_alike_stand_together() {
    let news = r#""objects": {"step_1": {"def": {"name": "step", "params": ["xs", "rate"]}}}"#;
    let args = |i: usize| format!("[{}], 0.5", vec!["\"f32[2]\""; i].join(", "));
    let grown: Vec<_> = (1..200).map(|i| line("jax.jit", &args(i), "", TRACED)).collect();
    let mut lines = grown;
    lines[0] = lines[0].replacen('{', &format!("{{{news}, "), 1);
    let cast = |dtype: &str| format!("[{}], 0.5", vec![format!("\"{dtype}[2]\""); 60].join(", "));
    lines.push(line("jax.jit", &cast("bf16"), "", TRACED));
    let said = text(&explained(&lines), Style::PLAIN);
    assert!(said.lines().count() < 40, "{said}");
    for expected in [
        "calls 2, 3, 4, 5, 6, 7 and 192 more traced, lowered, compiled again",
        "xs  structure  now list of 2, before list of 1; later list of 3, list of 4, list of 5 and 194 more",
        "and 57 more         likewise",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
}

/// What an explanation says happens on the real target: the two calls alone, and the repaired ones.
#[rstest]
fn an_explanation_happens_on_the_target(
    #[values("statics_and_data", "call_forms", "nested_calls", "line_search", "control_flow")] program: &str,
    #[values(NEWEST, "0.4.30")] version: &str,
) {
    let explained = record(program, version);
    let mut by_api: HashMap<String, Vec<CaseFile>> = HashMap::new();
    for number in 1..=explained.calls.len() {
        for case in explained.cases(number, &SPEC).into_iter().flatten() {
            by_api.entry(case.api.clone()).or_default().push(case);
        }
    }
    assert!(!by_api.is_empty());
    for (api, cases) in by_api {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cases.yaml"), to_yaml(&cases)).unwrap();
        let replayed = Command::new(env!("CARGO_BIN_EXE_jitkey"))
            .arg("replay")
            .arg(folder.path())
            .args(["--target", &format!("{api}@{version}")])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&replayed.stdout);
        assert_eq!(printed.matches(": holds").count(), cases.len(), "{printed}");
    }
}
