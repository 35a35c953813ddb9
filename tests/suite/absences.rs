//! What is said of calls that have no key of another call of the recording near to them.

use jitkey::explain::{Explained, ExplainedCall, Nearest, Untried};
use jitkey::report::explain::text;
use jitkey::report::text::Style;
use rstest::rstest;

use super::common::SPEC;
use super::explanations::{TRACED, explained, first, line};

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

/// What a call finds that was left before the recording is as if it had left it itself.
#[test]
fn what_was_left_before_the_recording_is_near() {
    let with = |line: String, number: usize| line.replacen('{', &format!(r#"{{"number": {number}, "#), 1);
    let lines = [
        r#"{"aside": {"api": "jax.jit", "again": 1}, "after": 0}"#.to_owned(),
        with(first("jax.jit", r#""f32[2]""#, "").replacen(TRACED, "", 1), 1),
        with(line("jax.jit", r#""f32[3]""#, "", TRACED), 2),
    ];
    let explained = explained(&lines);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted), "{explained:#?}");
    let call = &explained.calls[1];
    assert_eq!(call.explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    assert!(call.tried.as_ref().is_some_and(|tried| tried.mends && tried.minimal), "{explained:#?}");
    let [to_mend] = &explained.to_mend()[..] else { panic!("{explained:#?}") };
    assert_eq!((to_mend.id.as_str(), to_mend.compiles, to_mend.saves), ("another-shape", 1, 1));
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

/// The second of two calls, beside both of which a key was left by no call of the recording.
fn beside_an_aside(via: &str) -> Explained {
    let aside = r#"{"aside": {"api": "jax.jit", "call": {"function": {"ref": "step_1"}, "args": ["i32[7]"], "via": "VIA"}},
        "after": 0, "objects": {"step_1": {"def": {"name": "step at a.py:1"}}}}"#;
    let with = |args: &str, number: usize| {
        line("jax.jit", args, "", TRACED).replacen('{', &format!(r#"{{"number": {number}, "#), 1)
    };
    let aside = aside.replace('\n', "").replace("VIA", via);
    explained(&[aside, with(r#""f32[2,2]""#, 1), with(r#""i32[5]""#, 2)])
}

/// What left a jaxpr and no program is not what a compile is explained by.
#[test]
fn what_was_traced_alone_is_not_nearest() {
    let explained = beside_an_aside("trace");
    assert_eq!(explained.calls[1].explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
}

/// A key of no call of the recording is nearest: the text says so, and there is nothing to repair.
#[test]
fn what_is_nearest_can_be_an_aside() {
    let explained = beside_an_aside("compile");
    let call = &explained.calls[1];
    let explanation = call.explanation().unwrap();
    assert!(explanation.nearest == Nearest::Aside(0) && call.is_predicted(), "{explained:#?}");
    assert!(call.tried.is_none() && explained.repair(2, &SPEC).is_none());
    assert_eq!(call.untried, Some(Untried::Aside));
    let said = text(&explained, Style::PLAIN);
    assert!(
        said.contains(
            "was left by one that was traced inside of another or compiled ahead of time, before the first call:"
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

/// A call that has no words was one of the function, and nothing else is known of it.
#[test]
fn a_call_without_words_is_no_compilation_ahead_of_time() {
    let unrecorded = format!(
        r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "unrecorded": "recording a slice", "missed": [{TRACED}]}}"#
    );
    let explained = explained(&[unrecorded, first("jax.jit", "1", "")]);
    let [_, call] = &explained.calls[..] else { panic!("{explained:#?}") };
    let [Some(advice)] = &call.advice[..] else { panic!("{explained:#?}") };
    assert_eq!((call.differences()[0].path.as_str(), &*advice.cause), ("step", "after-a-call-without-words"));
}

/// The function of an eager loop that raised once is traced whenever it is given the like; a retry that is kept says so itself.
#[rstest]
#[case::of_a_loop("lax.scan", r#""f32[]", null, 3"#, [TRACED, TRACED], ["failed-before", "failed-while-traced"])]
#[case::of_jit("jax.jit", r#""f32[]""#, [TRACED, r#""dispatch""#], ["failed-before", "failed-once"])]
fn a_loop_whose_function_raised_is_traced_each_time(
    #[case] api: &str,
    #[case] rest: &str,
    #[case] missed: [&str; 2],
    #[case] causes: [&str; 2],
) {
    let called =
        if api == "jax.jit" { r#""function": {"ref": "body"}, "args": ["# } else { r#""args": [{"ref": "body"}, "# };
    let call = |number: u32, more: &str, missed: &str| {
        format!(
            r#"{{{more} "number": {number}, "api": "{api}", "name": "step", "at": "a.py:1", "from": "a.py:9",
                "call": {{{called}{rest}]}}, "missed": [{missed}]}}"#
        )
        .replace('\n', " ")
    };
    let raised = r#""objects": {"body": {"def": {"name": "body"}}}, "error": {"class": "KeyError", "message": ""},"#;
    let [retried, later] = missed;
    let explained = explained(&[call(1, raised, r#""trace""#), call(2, "", retried), call(3, "", later)]);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted), "{explained:#?}");
    let said = explained.calls[1..].iter().map(|call| call.advice[0].as_ref().unwrap().cause.as_str());
    assert_eq!(said.collect::<Vec<_>>(), causes, "{explained:#?}");
}
