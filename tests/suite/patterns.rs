//! What several calls of a function show together, of recordings that are written here.

use jitkey::case::Verdict;
use jitkey::explain::{Pattern, numbered};
use jitkey::report::explain::text;
use jitkey::report::text::Style;
use rstest::rstest;

use super::common::NEWEST;
use super::explanations::{TRACED, explained, line};
use super::recordings::record;

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
#[case::static_field(
    "jax.jit",
    &[
        r#"{"new": {"class": "Node", "children": [], "aux": 1}}, "f32[2]""#,
        r#"{"new": {"class": "Node", "children": [], "aux": 2}}, "f32[2]""#,
        r#"{"new": {"class": "Node", "children": [], "aux": 3}}, "f32[2]""#,
    ],
    &["static-number-each-call: args[0].aux in calls 2 and 3, 2 of 2"]
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
#[case::what_changes_once_beside_what_changes_each_time(
    "jax.jit",
    &[r#"[], null"#, r#"["f32[]"], "f32[]""#, r#"["f32[]", "f32[]"], "f32[]""#],
    &["no-fixed-point: args[0] in calls 2 and 3, 1 of 2"]
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
#[case::an_object_of_a_method_in_a_loop(
    "jax.jit",
    &[r#"1 | "function": {"ref": "m_1"}"#, r#"1 | "function": {"ref": "m_2"}"#, r#"1 | "function": {"ref": "m_3"}"#],
    &["method-in-a-loop:  in calls 2 and 3, 2 of 2"]
)]
#[case::only_traced_anew(
    "jax.jit",
    &[
        r#"1 | "function": {"ref": "f_1"}, "via": "trace""#,
        r#"1 | "function": {"ref": "f_2"}, "via": "trace""#,
        r#"1 | "function": {"ref": "f_3"}, "via": "trace""#,
    ],
    &[]
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
#[case::what_a_stale_hit_compiles_has_other_causes(
    "jax.jit",
    &[r#""f32[3]" | "reads": {"gain": "1.0"}"#, r#""f32[3]@0" | "reads": {"gain": "2.0"}"#],
    &["unseen-attribute: gain in call 2, 0 of 0"]
)]
fn what_calls_show_together(#[case] api: &str, #[case] args: &[&str], #[case] expected: &[&str]) {
    let of_number = |i: usize| {
        format!(
            r#""f_{i}": {{"def": {{"name": "<lambda>"}}}}, "solver_{i}": {{"new": {{"class": "Solver", "fields": {{"tol": 1}}}}}},
            "m_{i}": {{"method": {{"of": {{"ref": "solver_{i}"}}, "name": "Solver.run"}}}}"#
        )
    };
    let objects: Vec<_> = (1..4).map(|i| of_number(i).replace('\n', " ")).collect();
    let news = format!(
        r#""classes": {{"Node": {{"node": {{}}}}, "Solver": {{"plain_dataclass": {{"fields": ["tol"], "frozen": true}}}}}}, "objects": {{"step_1": {{"def": {{"name": "step"}}}}, {}}},"#,
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

/// What several functions are given that was made anew, or what surrounds them, is one thing to mend; a shape that is another in each
/// is one of each.
#[rstest]
#[case::made_anew(
    [r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_1"}}}"#, r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "f_2"}}}"#],
    "",
    &["function-made-anew: f, g in calls 3 and 4, 2 of 2"]
)]
#[case::flag(
    ["1", "1"],
    r#", "context": {"flags": {"jax_numpy_rank_promotion": {"str": "warn"}}}"#,
    &["flags: f, g in calls 3 and 4, 2 of 2"]
)]
#[case::objects_of_one_class(
    [r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "c_1"}}}"#, r#"{"new": {"class": "Node", "children": [], "aux": {"ref": "c_2"}}}"#],
    "",
    &["aux-data-that-is-made-anew: f in call 3, 1 of 1", "aux-data-that-is-made-anew: g in call 4, 1 of 1"]
)]
#[case::shape(
    [r#""f32[2]""#, r#""f32[3]""#],
    "",
    &["another-shape: f in call 3, 1 of 1", "another-shape: g in call 4, 1 of 1"]
)]
fn what_functions_have_in_common_is_one_cause(#[case] args: [&str; 2], #[case] later: &str, #[case] expected: &[&str]) {
    let object = |name: &str| format!(r#""{name}": {{"def": {{"name": "{name} at a.py:1"}}}}"#);
    let objects = ["f_1", "f_2", "f", "g"].map(object).join(", ").replace("f_2 at", "f_1 at");
    let configs = ["c_1", "c_2"].map(|name| format!(r#""{name}": {{"object": {{"called": "<Config>"}}}}"#)).join(", ");
    let news = format!(r#"{{"classes": {{"Node": {{"node": {{}}}}}}, "objects": {{{objects}, {configs}}}, "#);
    let of = |name: &str, args: &str, more: &str| {
        let function = format!(r#", "function": {{"ref": "{name}"}}{more}"#);
        line("jax.jit", args, &function, TRACED)
            .replace(r#""name": "step", "at": "a.py:1""#, &format!(r#""name": "{name}", "at": "a.py:{name}""#))
    };
    let [before, after] = args;
    let mut lines = vec![of("f", before, ""), of("g", before, ""), of("f", after, later), of("g", after, later)];
    lines[0] = lines[0].replacen('{', &news, 1);
    let explained = explained(&lines);
    let shown = explained.to_mend().into_iter().map(|pattern| {
        let Pattern { id, name, calls, saves, compiles, .. } = pattern;
        format!("{id}: {} in {}, {saves} of {compiles}", name.replace(" and ", ", "), numbered(&calls))
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected, "{}", text(&explained, Style::PLAIN));
}

/// What is jitted again and again of functions that were made alike and are all kept compiles the same again and again; two can be meant.
#[rstest]
#[case::alike(&[("0.1", "f32[2]"), ("0.1", "f32[2]"), ("0.1", "f32[2]")], Some((&[2, 3][..], 2)))]
#[case::two(&[("0.1", "f32[2]"), ("0.1", "f32[2]")], None)]
#[case::of_other_numbers(&[("0.1", "f32[2]"), ("0.2", "f32[2]"), ("0.3", "f32[2]")], None)]
#[case::given_others(&[("0.1", "f32[2]"), ("0.1", "f32[3]"), ("0.1", "f32[4]")], None)]
#[case::each_twice(
    &[("0.1", "f32[2]"), ("0.2", "f32[2]"), ("0.1", "f32[2]"), ("0.2", "f32[2]")],
    Some((&[3, 4][..], 2))
)]
fn functions_that_are_kept_can_be_made_alike(
    #[case] made: &[(&str, &str)],
    #[case] expected: Option<(&[usize], usize)>,
) {
    let of_one = |(i, (rate, aval)): (usize, &(&str, &str))| {
        format!(
            r#"{{"api": "jax.jit", "name": "step", "at": "a.py:1", "from": "a.py:9", "wrapper": "w_{i}", "missed": [{TRACED}],
                "objects": {{"step_{i}": {{"def": {{"name": "step at a.py:1"}}}}}}, "outside": {{"step_{i}": {{"rate": "{rate}"}}}},
                "call": {{"function": {{"ref": "step_{i}"}}, "args": ["{aval}"]}}}}"#
        )
        .replace('\n', " ")
    };
    let mut lines: Vec<_> = made.iter().enumerate().map(of_one).collect();
    let kept: Vec<_> = (0..made.len()).map(|i| format!("\"w_{i}\"")).collect();
    lines.push(format!(r#"{{"aside": null, "after": {}, "kept": [{}]}}"#, made.len(), kept.join(", ")));
    let explained = explained(&lines);
    assert!(explained.calls.iter().all(|call| call.first && call.is_predicted()), "{explained:#?}");
    let alike = explained.patterns.iter().find(|pattern| pattern.id == "made-alike-and-kept");
    assert_eq!(alike.map(|it| (&it.calls[..], it.saves)), expected, "{}", text(&explained, Style::PLAIN));
}

/// Two optimizers that are used in turn are both meant; one that is made anew reads no other number where its schedule has written 8
/// as 8.0.
#[rstest]
fn optimizers_in_turn_are_meant(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("optimizers_in_turn", version);
    let causes = |number: usize| -> Vec<_> {
        explained.calls[number - 1].advice.iter().flatten().map(|advice| advice.cause.as_str()).collect()
    };
    assert_eq!((causes(2)[0], causes(6)[0]), ("another-optimizer", "optimizer-made-anew"), "{explained:#?}");
    assert!(explained.calls[5].outside.is_empty(), "{:#?}", explained.calls[5].outside);
}
