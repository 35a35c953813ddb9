//! What is said of mending: what it would leave, what it would save, and what a function was made anew for.

use std::collections::HashSet;

use jitkey::case::{Layer, LayerSet};
use jitkey::explain::{Explained, Nearest, Recording, Untried};
use jitkey::report::explain::{json, text};
use jitkey::report::html::recording;
use jitkey::report::text::Style;
use rstest::rstest;

use super::common::{NEWEST, SPEC};

/// A recording of these lines, explained.
fn read(lines: &[String]) -> Explained {
    read_of(NEWEST, lines)
}

/// The same, made with that version of jax.
fn read_of(version: &str, lines: &[String]) -> Explained {
    let mut content = format!("{{\"recording\": 1, \"about\": {{\"jax\": \"{version}\"}}}}\n");
    for line in lines {
        content += &line.replace('\n', " ");
        content.push('\n');
    }
    Recording::read(&content).and_then(|recording| Explained::of(recording, &SPEC)).unwrap()
}

/// Calls of `step`, of which each is given its argument as a function of that number, by a wrapper of its own, in one place; the
/// functions read `k` from outside.
fn explained(calls: &[(u32, &str)]) -> Explained {
    let mut lines = Vec::new();
    for (i, (function, arg)) in calls.iter().enumerate() {
        let is_new = !calls[..i].iter().any(|(known, _)| known == function);
        let is_like = |(known, other): &(u32, &str)| known == function && other == arg;
        let missed = if calls[..i].iter().any(is_like) { "" } else { TRACED };
        let news = format!(
            r#""objects": {{"step_{function}": {{"def": {{"name": "step at a.py:1", "params": ["x"]}}}}}},
               "outside": {{"step_{function}": {{"k": "{}", "rate": "0.1"}}}}, "#,
            function % 3
        );
        let line = format!(
            r#"{{{} "api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "wrapper": "w_{function}",
                "call": {{"function": {{"ref": "step_{function}"}}, "args": ["{arg}"]}}, "missed": [{missed}]}}"#,
            if is_new { news } else { String::new() },
        );
        lines.push(line);
    }
    read(&lines)
}

/// A call of one function, with options of its wrapper.
fn call(arg: &str, options: &str, missed: &str) -> String {
    format!(
        r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "missed": [{missed}],
            "objects": {{"step_1": {{"def": {{"name": "step at a.py:1", "params": ["x"]}}}}}},
            "call": {{"function": {{"ref": "step_1"}}, "args": [{arg}], "options": {{{options}}}}}}}"#
    )
}

fn with_effect(line: String) -> String {
    line.replacen('{', r#"{"effect": "unordered", "#, 1)
}

const TRACED: &str = r#""dispatch", "trace", "lower", "compile""#;

/// What is lowered anew is beside the call that was traced alike, whatever the fast path has nearby.
#[test]
fn what_is_lowered_is_beside_what_was_traced() {
    let state = |a: &str, at: &str| format!(r#"["{a}[3]{at}", "f32[3]{at}", "f32[3]{at}"]"#);
    let lines = [
        call(&state("f32", "@0"), "", TRACED),
        call(&state("bf16", ""), "", TRACED),
        call(&state("bf16", "@0"), "", r#""dispatch", "lower", "compile""#),
    ];
    let explained = read(&lines);
    let again = &explained.calls[2];
    assert_eq!(again.explanation().unwrap().nearest, Nearest::Call(2), "{explained:#?}");
    assert!(again.differences().iter().all(|found| found.component == "committed"), "{explained:#?}");
}

/// A call that raised as it was traced has left nothing: one like it, which isn't served by that, differs from others.
#[test]
fn what_raised_is_nothing_nearby() {
    let raised = r#"{"error": {"class": "ValueError", "message": ""}, "#;
    let lines = [
        call(r#""f32[3]""#, "", TRACED),
        call(r#""f32[2]""#, "", r#""dispatch", "trace""#).replacen('{', raised, 1),
        call(r#""f32[2]""#, "", TRACED),
    ];
    let explained = read(&lines);
    let again = &explained.calls[2];
    assert_eq!(again.explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    assert_eq!(again.differences().iter().map(|found| found.component.as_str()).collect::<Vec<_>>(), ["shape"]);
    assert!(again.tried.as_ref().is_some_and(|tried| tried.mends && tried.minimal), "{explained:#?}");
}

/// Which leaves are donated follows from the leaves.
#[test]
fn donated_leaves_are_no_other_options() {
    let donates = r#""donate_argnums": [0]"#;
    let lines = [
        call(r#"{"dict": {"a": "f32[2]"}}"#, donates, TRACED),
        call(r#"{"dict": {"a": "f32[2]", "b": "f32[2]"}}"#, donates, TRACED),
    ];
    let explained = read(&lines);
    let again = &explained.calls[1];
    let causes: Vec<_> = again.advice.iter().flatten().map(|advice| advice.cause.as_str()).collect();
    assert_eq!(causes, ["a-key-more-or-less"], "{explained:#?}");
    assert!(again.further.is_empty(), "{explained:#?}");
    let saved = explained.to_mend().iter().map(|pattern| (pattern.compiles, pattern.saves)).collect::<Vec<_>>();
    assert_eq!(saved, [(1, 1)], "{explained:#?}");
}

/// What two functions read that aren't called alike is not compared.
#[test]
fn another_function_reads_something_else() {
    let of = |function: u32, name: &str| {
        format!(
            r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "missed": [{TRACED}],
                "objects": {{"step_1": {{"def": {{"name": "step at a.py:1", "params": ["f"]}}}},
                             "f_{function}": {{"def": {{"name": "{name}"}}}}}},
                "outside": {{"f_{function}": {{"alpha": "{function}"}}}},
                "call": {{"function": {{"ref": "step_1"}}, "args": [{{"ref": "f_{function}"}}],
                          "options": {{"static_argnums": [0]}}}}}}"#
        )
    };
    let explained = read(&[of(1, "soft"), of(2, "hard"), of(3, "hard")]);
    let outside: Vec<_> = explained.calls.iter().map(|call| call.outside.len()).collect();
    assert_eq!(outside, [0, 0, 1], "{explained:#?}");
}

/// What the call would be served with is no reason: `jax.eval_shape` wraps its function each time up to jax 0.4, and the trace is that
/// of the function.
#[test]
fn what_is_not_needed_is_left_out() {
    let of = |wrapper: u32, arg: &str, missed: &str| {
        let more = format!(r#"{{"wrapper": "w_{wrapper}", "ended": ["w_{}"], "#, wrapper - 1);
        let line = call(arg, "", missed).replacen('{', &more, 1);
        line.replacen(r#""call": {"#, r#""call": {"via": "eval_shape", "#, 1)
    };
    let traced = r#""trace""#;
    let explained =
        read_of("0.4.30", &[of(1, r#""f32[3]""#, traced), of(2, r#""f32[3]""#, ""), of(3, r#""f32[5]""#, traced)]);
    let again = &explained.calls[2];
    let said: Vec<_> = again.differences().iter().map(|found| found.component.as_str()).collect();
    assert_eq!(said, ["shape"], "{explained:#?}");
    assert!(again.advice.len() == 1 && again.tried.as_ref().is_some_and(|tried| tried.minimal), "{explained:#?}");
}

/// Repairs of two causes in one place are both tried.
#[test]
fn each_cause_is_tried() {
    let statics = r#""static_argnums": [0]"#;
    let lines: Vec<_> = ["0.5", r#"{"str": "a"}"#, r#"{"str": "b"}"#, "2", "3"]
        .iter()
        .map(|value| call(value, statics, TRACED))
        .collect();
    let explained = read(&lines);
    let causes: HashSet<_> =
        explained.calls.iter().flat_map(|call| call.advice.iter().flatten()).map(|it| &it.cause).collect();
    let tried = explained.calls.iter().filter(|call| call.tried.is_some()).count();
    assert!(causes.len() > 1 && tried == causes.len(), "{explained:#?}");
}

/// What is not tried says why, in the text, on the page and for programs.
#[rstest]
#[case::an_effect(Untried::Effect)]
#[case::too_many_places(Untried::Places)]
#[case::like_another(Untried::Like(2))]
#[case::others(Untried::Others(64))]
#[case::found_by_nobody(Untried::Again)]
fn what_is_not_tried_says_why(#[case] expected: Untried) {
    let lines: Vec<_> = match expected {
        Untried::Effect => [(r#""f32[2]""#, TRACED), (r#""f32[2]@0""#, r#""dispatch", "lower", "compile""#)]
            .map(|(array, missed)| with_effect(call(array, "", missed)))
            .into(),
        Untried::Places => ["f32", "i32"]
            .map(|dtype| call(&format!("[{}]", vec![format!(r#""{dtype}[2]""#); 70].join(", ")), "", TRACED))
            .into(),
        Untried::Again => {
            [r#"{"float": "nan"}"#, "2.0"].map(|number| call(number, r#""static_argnums": [0]"#, TRACED)).into()
        }
        Untried::Like(_) => [2, 3, 4].map(|n| call(&format!(r#""f32[{n}]""#), "", TRACED)).into(),
        _ => {
            let of = |i: usize, n: usize| {
                call(&format!(r#""f32[{n}]""#), "", TRACED)
                    .replace("a.py:1", &format!("a.py:{i}"))
                    .replace("step_1", &format!("step_{i}"))
            };
            (0..65).flat_map(|i| [of(i, 2), of(i, 3)]).collect()
        }
    };
    let explained = read(&lines);
    let last = explained.calls.last().unwrap();
    assert!(last.tried.is_none() && last.untried == Some(expected), "{:?}", last.untried);
    let why = expected.to_string();
    assert!(serde_json::to_string(last).unwrap().contains(&format!(r#""untried":"{why}""#)));
    // What is like another stands with that one.
    let is_alone = !matches!(expected, Untried::Like(_));
    let says = format!("Not tried on the model: {why}.");
    assert_eq!(text(&explained, Style::PLAIN).contains(&says), is_alone);
    assert_eq!(recording(&explained).contains(&says), is_alone);
}

/// A trace has nothing to do with the effect of what is traced, whichever call has one.
#[rstest]
fn what_is_traced_has_effects(#[values(&[1, 2], &[1], &[2])] of: &[usize]) {
    let lines = [1, 2].map(|number| {
        let line = call(&format!(r#""f32[{number}]""#), "", TRACED);
        if of.contains(&number) { with_effect(line) } else { line }
    });
    let explained = read(&lines);
    let tried = explained.calls[1].tried.as_ref();
    assert!(tried.is_some_and(|tried| tried.mends && tried.minimal && tried.left.is_empty()), "{explained:#?}");
}

/// What the functions read, where it differs, stands beside the one that was made anew.
#[test]
fn what_a_function_was_made_anew_for_is_said() {
    let explained = explained(&[(1, "f32[2]"), (2, "f32[2]"), (3, "f32[2]"), (6, "f32[2]")]);
    let outside: Vec<_> = explained
        .calls
        .iter()
        .map(|call| call.outside.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        .collect();
    assert_eq!(outside, ["", "from outside at k: 2 was 1", "from outside at k: 0 was 2", ""]);
    let said = text(&explained, Style::PLAIN);
    assert!(said.contains("    k     from outside  now 2, before 1; later 0\n"), "{said}");
}

/// What compiled again took so long, in all and for each thing to mend, and what takes longest comes first.
#[test]
fn what_compiles_took_is_counted() {
    let took = |line: String, seconds: &str| line.replacen('{', &format!(r#"{{"seconds": {seconds}, "#), 1);
    let lines = [
        took(call(r#""f32[2]""#, "", TRACED), "100"),
        took(call(r#""f32[3]""#, "", TRACED), "0.04"),
        took(call(r#""f32[4]""#, "", TRACED), "1.26"),
        call(r#""f32[2]""#, "", ""),
        took(call(r#""~f32[2]""#, "", TRACED), "12.4"),
    ];
    let explained = read(&lines);
    let said = text(&explained, Style::PLAIN);
    let ends =
        ["3 compiled again in 14 s,", "  2 compiles, 1.3 s  shape-each-call", "   1 compile, 12 s  weak-type-gained"];
    assert!(ends.iter().all(|it| said.contains(it)), "{said}");
    let first = |said: &str| said.lines().find_map(|line| line.strip_suffix("mend this first").map(str::to_owned));
    assert!(first(&said).unwrap().contains("weak-type-gained"), "{said}");
    let page = recording(&explained);
    assert!(["</strong> in 14 s.", "<b>2</b> compiles, 1.3\u{a0}s"].iter().all(|it| page.contains(it)));
    let [fast, unknown] = ["0.04", "null"].map(|it| {
        let of_all = |line: String| ["100", "1.26", "12.4", "0.04"].iter().fold(line, |line, of| line.replace(of, it));
        text(&read(&lines.clone().map(of_all)), Style::PLAIN)
    });
    assert!(fast.contains("again in 0.1 s,") && first(&fast).unwrap().starts_with("  2 compiles, 80 ms  "), "{fast}");
    assert!(unknown.contains("again, 0") && first(&unknown).unwrap().contains("shape-each-call"), "{unknown}");
}

/// What differs in a call as a whole or in what surrounds it has a place as well, for people and for programs.
#[rstest]
#[case::the_function([call("2", "", TRACED), call("2", "", TRACED).replace("step_1", "step_2")], "step", "function")]
#[case::the_arguments([call("2", "", TRACED), call("2", "", TRACED).replace(r#""args": [2]"#, r#""kwargs": {"x": 2}"#)], "step", "number of positional arguments")]
#[case::the_context(
    [call("2", "", TRACED), call("2", "", TRACED).replacen(r#""args""#, r#""context": {"flags": {"jax_default_matmul_precision": {"str": "high"}}}, "args""#, 1)],
    "context",
    "flags"
)]
fn what_is_of_the_whole_call_has_a_place(#[case] lines: [String; 2], #[case] place: &str, #[case] component: &str) {
    let explained = read(&lines);
    let all: serde_json::Value = serde_json::from_str(&json(&explained)).unwrap();
    let differences = |call: &serde_json::Value| call["explanations"].as_array().unwrap().clone();
    let stated: Vec<_> = all["calls"].as_array().unwrap().iter().flat_map(differences).collect();
    let stated: Vec<_> = stated.iter().flat_map(|it| it["differences"].as_array().unwrap()).collect();
    assert!(stated.iter().any(|it| it["path"] == place && it["component"] == component), "{stated:#?}");
    assert!(stated.iter().all(|it| it["path"] != ""), "{stated:#?}");
    let row = format!("    {place}  {component}  ");
    let said = text(&explained, Style::PLAIN);
    assert!(said.contains(&row), "{said}");
    assert!(recording(&explained).contains(&format!(r#""{place}""#)));
}

/// An object that looks as before and was made anew can be no argument, unlike a number.
#[rstest]
#[case::a_number(r#""k": "1""#, r#""k": "2""#, "from outside at k: 2 was 1", "Jit once")]
#[case::made_anew(
    r#""tx": "<Adam> #1""#,
    r#""tx": "<Adam> #2""#,
    "object from outside at tx: another <Adam> was <Adam>",
    "Make tx once"
)]
#[case::another(
    r#""tx": "<Adam> #1""#,
    r#""tx": "<Sgd> #2""#,
    "object from outside at tx: <Sgd> was <Adam>",
    "Jit once"
)]
#[case::no_number(r##""k": "'a #1'""##, r##""k": "'a #2'""##, "from outside at k: 'a #2' was 'a #1'", "Jit once")]
#[case::the_same(r#""tx": "<Adam> #1""#, r#""tx": "<Adam> #1""#, "", "Jit once")]
fn what_is_made_anew_with_a_function_is_made_once(
    #[case] before: &str,
    #[case] after: &str,
    #[case] expected: &str,
    #[case] fix: &str,
) {
    let of = |function: u32, reads: &str| {
        format!(
            r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "missed": [{TRACED}], "wrapper": "w_{function}",
                "objects": {{"step_{function}": {{"def": {{"name": "step at a.py:1", "params": ["x"]}}}}}},
                "outside": {{"step_{function}": {{{reads}}}}},
                "call": {{"function": {{"ref": "step_{function}"}}, "args": ["f32[2]"]}}}}"#
        )
    };
    let explained = read(&[of(1, before), of(2, after), of(3, after)]);
    let said: Vec<_> = explained.calls[1].outside.iter().map(ToString::to_string).collect();
    assert_eq!(said.join(", "), expected, "{explained:#?}");
    assert!(explained.calls[1].advice[0].as_ref().unwrap().fix.starts_with(fix), "{explained:#?}");
}

/// A call of a method, which was made anew and jitted anew in call 2.
fn of_method(number: u32, objects: &str, more: &str, arg: &str) -> String {
    let gone = if number == 1 { "" } else { r#""dropped": ["m_1"], "ended": ["w_1"], "# };
    format!(
        r#"{{{gone} "api": "jax.jit", "name": "run", "at": "a.py:1", "from": "a.py:9", "missed": [{TRACED}], "wrapper": "w_{number}",
            "objects": {{{objects}}}, {more} "call": {{"function": {{"ref": "m_{number}"}}, "args": ["{arg}"]}}}}"#
    )
}

/// Of a method whose object is gone the recording still has what that held.
#[test]
fn a_method_of_an_object_that_is_gone() {
    let of = |number: u32| {
        let net = format!(r#""net_{number}": {{"object": {{"called": "<Net width={number}>"}}}}"#);
        let name = format!(r#"{{"of": {{"ref": "net_{number}"}}, "name": "lib.<locals>.Net.run"}}"#);
        let outside = format!(r#""outside": {{"m_{number}": {{"self.width": "{number}", "self.depth": "3"}}}},"#);
        of_method(number, &format!(r#"{net}, "m_{number}": {{"method": {name}}}"#), &outside, "f32[2]")
    };
    let explained = read(&[of(1), of(2)]);
    let again = &explained.calls[1];
    assert_eq!(again.explanation().unwrap().nearest, Nearest::Nothing, "{explained:#?}");
    let said: Vec<_> = again.differences().iter().chain(&again.outside).map(ToString::to_string).collect();
    let method = "<bound method lib.<locals>.Net.run>";
    assert_eq!(
        said,
        [format!("function: another {method} was {method}"), "from outside at self.width: 2 was 1".to_owned()]
    );
    let advice = again.advice[0].as_ref().unwrap();
    assert!(advice.cause == "method-wrapped-anew" && advice.fix.starts_with("Make the Net once"), "{advice:?}");
}

/// The same of an object that is still there.
#[test]
fn a_method_that_is_gone_of_an_object_that_is_not() {
    let of = |number: u32| {
        let net = r#""net_1": {"object": {"called": "<Net>"}}"#;
        let name = r#"{"of": {"ref": "net_1"}, "name": "Net.run"}"#;
        of_method(number, &format!(r#"{net}, "m_{number}": {{"method": {name}}}"#), "", &format!("f32[{number}]"))
    };
    let explained = read(&[of(1), of(2)]);
    let again = &explained.calls[1];
    let advice = again.advice[0].as_ref().unwrap();
    let said: Vec<_> = again.differences().iter().map(ToString::to_string).collect();
    assert!(said[0].contains("<bound method Net.run of the same "), "{said:#?}");
    assert!(advice.cause == "method-taken-anew" && advice.fix.starts_with("Call jax.jit once"), "{advice:?}");
}

/// What one function makes together is made once with it; what comes from elsewhere has to be made once there.
#[rstest]
#[case::together("make.<locals>.rate at a.py:2", "Jit once")]
#[case::elsewhere("rates.<locals>.rate at a.py:2", "Make rate once")]
#[case::deeper("make.<locals>.inner.<locals>.rate at a.py:2", "Make rate once")]
#[case::at_the_top("rate at a.py:2", "Make rate once")]
fn what_is_made_together_is_made_once(#[case] beside: &str, #[case] fix: &str) {
    let of = |function: u32| {
        format!(
            r#"{{"api": "jax.jit", "name": "step", "at": "a.py:3", "from": "a.py:9", "missed": [{TRACED}], "wrapper": "w_{function}",
                "objects": {{"step_{function}": {{"def": {{"name": "make.<locals>.step at a.py:3", "params": ["x"]}}}}}},
                "outside": {{"step_{function}": {{"rate": "{beside} #{function}"}}}},
                "call": {{"function": {{"ref": "step_{function}"}}, "args": ["f32[2]"]}}}}"#
        )
    };
    let explained = read(&[of(1), of(2), of(3)]);
    assert!(explained.calls[1].advice[0].as_ref().unwrap().fix.starts_with(fix), "{explained:#?}");
}

/// An optimizer that is made anew for another number keeps that number as an argument or a state.
#[rstest]
#[case::a_number("-0.1", "-0.01", &["tx.update.rate can change"])]
#[case::the_same("-0.1", "-0.1", &[])]
#[case::no_number("'adam'", "'sgd'", &[])]
#[case::an_array("float32[3]", "float32[4]", &[])]
fn an_optimizer_for_another_number(#[case] before: &str, #[case] after: &str, #[case] expected: &[&str]) {
    let of = |number: u32, rate: &str| {
        let [init, update] = ["init", "update"].map(|of| {
            format!(r#""{of}_{number}": {{"def": {{"name": "chain.<locals>.{of}_fn at optax/transforms/_combining.py:1"}}}}"#)
        });
        format!(
            r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "missed": [{TRACED}],
                "classes": {{"Tx": {{"namedtuple": ["init", "update"]}}}},
                "objects": {{"step_1": {{"def": {{"name": "step at a.py:1", "params": ["tx"]}}}}, {init}, {update}}},
                "outside": {{"init_{number}": {{"dtype": "None"}}, "update_{number}": {{"rate": "{rate}"}}}},
                "call": {{"function": {{"ref": "step_1"}}, "options": {{"static_argnums": [0]}},
                          "args": [{{"new": {{"class": "Tx", "args": [{{"ref": "init_{number}"}}, {{"ref": "update_{number}"}}]}}}}]}}}}"#
        )
    };
    let explained = read(&[of(1, before), of(2, before), of(3, after)]);
    let advice = explained.calls[2].advice[0].as_ref().unwrap();
    assert_eq!(advice.cause, "optimizer-made-anew", "{explained:#?}");
    assert_eq!(advice.fix.contains("inject_hyperparams"), !expected.is_empty(), "{advice:#?}");
    assert!(expected.iter().all(|text| advice.fix.contains(text)), "{advice:#?}");
    // What is to mend says it as well, though it is seen in the second call alone.
    assert_eq!(explained.to_mend()[0].fix, advice.fix);
    let outside: Vec<_> = explained.calls[2].outside.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(outside, if before == after { vec![] } else { vec!["tx.update.rate"] });
}

/// That an array is passed as an argument makes no one program of its shapes.
#[rstest]
#[case::a_shape("float32[3]", "float32[4]", true)]
#[case::a_dtype("float32[3, 2]", "int32[3, 2]", true)]
#[case::an_array_now("3", "float32[]", false)]
#[case::no_array("Kind(size=[3])", "Kind(size=[4])", false)]
fn each_shape_compiles_even_so(#[case] before: &str, #[case] after: &str, #[case] expected: bool) {
    let of = |function: u32, table: &str| {
        format!(
            r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "missed": [{TRACED}], "wrapper": "w_{function}",
                "objects": {{"step_{function}": {{"def": {{"name": "step at a.py:1", "params": ["x"]}}}}}},
                "outside": {{"step_{function}": {{"table": "{table}"}}}},
                "call": {{"function": {{"ref": "step_{function}"}}, "args": ["f32[2]"]}}}}"#
        )
    };
    let explained = read(&[of(1, before), of(2, after), of(3, after)]);
    let fix = &explained.calls[1].advice[0].as_ref().unwrap().fix;
    assert_eq!(fix.contains("Each shape and dtype of table"), expected, "{fix}");
}

/// Of much that functions read few rows are shown, and of the others how many there are.
#[test]
fn what_is_read_beside_that_is_counted() {
    let of = |function: u32| {
        let reads: Vec<_> = (0..15).map(|i| format!(r#""k{i}": "{function}""#)).collect();
        format!(
            r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "missed": [{TRACED}], "wrapper": "w_{function}",
                "objects": {{"step_{function}": {{"def": {{"name": "step at a.py:1", "params": ["x"]}}}}}},
                "outside": {{"step_{function}": {{{}}}}},
                "call": {{"function": {{"ref": "step_{function}"}}, "args": ["f32[2]"]}}}}"#,
            reads.join(", ")
        )
    };
    let said = text(&read(&[of(1), of(2), of(3)]), Style::PLAIN);
    let rows = said.lines().filter(|line| line.contains("from outside")).count();
    assert!(rows == 12 && said.contains("    and 3 more\n"), "{said}");
}

/// A repair of the trace alone leaves what the layers below have keys of their own for.
#[rstest]
#[case::committed("f32[2]@0", LayerSet::NONE.with(Layer::Lower).with(Layer::Compile), &["committed of x"])]
#[case::the_same("f32[2]", LayerSet::NONE, &[])]
#[case::another_shape("f32[3]", LayerSet::NONE, &[])]
// An argument is mended as a whole.
#[case::another_shape_and_committed("f32[3]@0", LayerSet::NONE, &["committed of x"])]
fn what_a_repair_leaves_is_said(#[case] arg: &str, #[case] left: LayerSet, #[case] further: &[&str]) {
    let explained = explained(&[(1, "f32[2]"), (2, "f32[2]"), (3, arg)]);
    let call = &explained.calls[2];
    let found = call.further.iter().map(|it| format!("{} of {}", it.difference.component, it.difference.path));
    assert_eq!(found.collect::<Vec<_>>(), further, "{explained:#?}");
    assert_eq!(call.tried.as_ref().map_or(LayerSet::NONE, |tried| tried.left), left, "{explained:#?}");
    let said = text(&explained, Style::PLAIN);
    assert_eq!(said.contains("but it is lowered and compiled all the same"), left != LayerSet::NONE, "{said}");
    assert_eq!(said.contains("array-avals/commit"), !further.is_empty(), "{said}");
}

/// What is saved are the compiles for which nothing else is a reason, at any layer; a function that has made two programs saves both
/// later on.
#[rstest]
#[case::nothing_else(&[(1, "f32[2]"), (2, "f32[2]"), (3, "f32[2]")], 2, 2)]
#[case::another_shape(&[(1, "f32[2]"), (2, "f32[3]"), (3, "f32[2]"), (4, "f32[3]")], 3, 2)]
#[case::committed(&[(1, "f32[2]"), (2, "f32[2]@0"), (3, "f32[2]")], 2, 1)]
#[case::two_others(&[(1, "f32[2]"), (2, "f32[3]@0"), (3, "f32[2]@0"), (4, "f32[3]")], 3, 0)]
fn a_repair_saves_what_nothing_else_makes(
    #[case] calls: &[(u32, &str)],
    #[case] compiles: usize,
    #[case] saves: usize,
) {
    let explained = explained(calls);
    let to_mend = explained.to_mend();
    let anew = to_mend.iter().find(|pattern| pattern.id == "wrapper-in-a-loop").unwrap();
    assert_eq!((anew.compiles, anew.saves), (compiles, saves), "{to_mend:#?}");
}
