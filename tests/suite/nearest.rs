//! Which earlier call a miss is compared with, and in what words the two differ.

use jitkey::case::Layer;
use jitkey::explain::{Explained, Nearest, Recording};
use rstest::rstest;

use super::common::{NEWEST, SPEC};

const STATIC: &str = r#", "options": {"static_argnums": [0]}"#;

const TRACED: &str = r#""dispatch", "trace", "lower", "compile""#;

/// A recording of these lines, explained.
fn read(lines: &[String]) -> Explained {
    let mut content = format!("{{\"recording\": 1, \"about\": {{\"jax\": \"{NEWEST}\"}}}}\n");
    for line in lines {
        content += &line.replace('\n', " ");
        content.push('\n');
    }
    Recording::read(&content).and_then(|recording| Explained::of(recording, &SPEC)).unwrap()
}

/// A call of `step`, whose parameters are `s` and `t`.
fn call(api: &str, args: &str, more: &str) -> String {
    format!(
        r#"{{"api": "{api}", "name": "step", "at": "a.py:1", "from": "a.py:9", "missed": [{TRACED}],
            "classes": {{"Solver": {{"module": {{"fields": ["steps"], "static": []}}}}}},
            "objects": {{"step_1": {{"def": {{"name": "step at a.py:1", "params": ["s", {{"name": "t", "default": 0}}]}}}}}},
            "call": {{"function": {{"ref": "step_1"}}, "args": [{args}] {more}}}}}"#
    )
}

/// What the last call differs in from the nearest one, and the causes of that.
fn said(explained: &Explained) -> (Vec<String>, Vec<&str>) {
    let last = explained.calls.last().unwrap();
    let found = last.differences().iter().map(ToString::to_string).collect();
    (found, last.advice.iter().flatten().map(|advice| advice.cause.as_str()).collect())
}

/// Four layers of two weights and a bias.
fn layers(bias: &str) -> String {
    let layer = format!(r#"{{"dict": {{"v": "f32[2]", "w": "f32[2]", "b": {bias}}}}}"#);
    format!(r#"{{"dict": {{"a": {layer}, "b": {layer}, "c": {layer}, "d": {layer}}}}}"#)
}

/// The last of many calls of which each has another shape of both is compared with the one that has one of them.
#[rstest]
fn a_shape_that_is_shared_is_nearer(#[values(3, 15, 16, 40, 300)] many: usize) {
    let shapes = |s: usize, t: usize| call("jax.jit", &format!(r#""f32[{s}]", "f32[{t}]""#), "");
    let mut lines: Vec<_> = (0..many).map(|i| shapes(1000 + i, 2000 + i)).collect();
    lines.extend([shapes(7, 500), shapes(999, 500)]);
    let explained = read(&lines);
    assert_eq!(explained.calls.last().unwrap().explanation().unwrap().nearest, Nearest::Call(many + 1));
    assert_eq!(said(&explained).0, ["shape at s: [999] was [7]"]);
}

/// A container of another kind says nothing of what is in it, and no more does a part that is gone.
#[rstest]
#[case::of_another_kind(&format!(r#"{{"tuple": [{}]}}"#, layers("null")))]
#[case::gone(&format!(r#"[null, {}]"#, layers("null")))]
#[case::one_leaf(r#"["f32[2]"]"#)]
fn what_is_built_otherwise_is_far(#[case] other: &str) {
    let (full, bare) = (format!("[{}]", layers(r#""f32[2]""#)), format!("[{}]", layers("null")));
    let explained = read(&[&full, other, &bare].map(|args| call("jax.jit", args, "")));
    let last = explained.calls.last().unwrap();
    assert_eq!(last.explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    let (found, _) = said(&explained);
    let expected: Vec<_> =
        ["a", "b", "c", "d"].iter().map(|layer| format!("structure at s[0]['{layer}']['b']: None was leaf")).collect();
    assert_eq!(found, expected);
}

/// A container of another kind is nearer if it has as many children.
#[rstest]
#[case::as_many(r#"{"tuple": ["f32[2]", "f32[2]", "f32[2]"]}"#, 1)]
#[case::fewer(r#"{"tuple": ["f32[2]"]}"#, 2)]
fn as_many_children_are_nearer(#[case] now: &str, #[case] nearest: usize) {
    let lists = [r#"["f32[2]", "f32[2]", "f32[2]"]"#, r#"["f32[2]"]"#];
    let explained = read(&[lists[0], lists[1], now].map(|args| call("jax.jit", args, "")));
    assert_eq!(explained.calls[2].explanation().unwrap().nearest, Nearest::Call(nearest), "{explained:#?}");
}

/// A key that differs in one part is nearer than one that differs in it and elsewhere, however much that part has lost.
#[test]
fn what_differs_in_less_is_nearer() {
    let pair = |weights: &str, state: &str| call("jax.jit", &format!("[{weights}], {state}"), "");
    let state = |leaf: &str| format!(r#"{{"tuple": [{{"dict": {{"m": [{0}], "n": [{0}]}}}}]}}"#, [leaf; 9].join(", "));
    let (small, large) = (r#""f32[2]""#, r#""f32[3]""#);
    let lines = [
        pair(small, &state(small).replace(r#""f32[2]", "f32[2]", "#, "")),
        pair(large, &state(large)),
        pair(large, r#"{"tuple": [null]}"#),
    ];
    let explained = read(&lines);
    assert_eq!(explained.calls[2].explanation().unwrap().nearest, Nearest::Call(2), "{explained:#?}");
    assert_eq!(said(&explained).0, ["structure at t[0]: None was dict of 2"]);
}

/// A switch with more branches is another one, whatever these are.
#[test]
fn a_switch_of_more_branches_is_another() {
    let of = |branches: &[&str], missed: &str| {
        let named: Vec<_> = branches.iter().map(|name| format!(r#"{{"ref": "{name}"}}"#)).collect();
        format!(
            r#"{{"api": "lax.switch", "name": "lax.switch", "at": "a.py:1", "from": "a.py:9", "missed": [{missed}],
                "objects": {{"f": {{"def": {{"name": "f at a.py:1"}}}}, "g": {{"def": {{"name": "g at a.py:2"}}}}}},
                "call": {{"args": [0, [{}], "f32[3]"]}}}}"#,
            named.join(", ")
        )
    };
    let lowered = r#""dispatch", "lower", "compile""#;
    let lines = [of(&["f", "g"], TRACED), of(&["f", "g", "g"], lowered), of(&["f", "g"], "")];
    let explained = read(&lines);
    let first: Vec<_> = explained.calls.iter().map(|call| (call.first, call.is_predicted())).collect();
    assert_eq!(first, [(true, true), (true, true), (false, true)], "{explained:#?}");
}

/// None is one of the values of what is static, and structure where an array can be.
#[rstest]
#[case("equinox.filter_jit", "null", "10", "static value at s.steps: 10 was None", "static-none-before")]
#[case("equinox.filter_jit", "10", "null", "static value at s.steps: None was 10", "static-none-now")]
#[case("equinox.filter_jit", "null", r#""f32[]""#, "structure at s.steps: leaf was None", "an-array-where-none-was")]
#[case("jax.jit", "null", "10", "structure at s.steps: leaf was None", "an-array-where-none-was")]
fn none_beside_a_static_leaf(
    #[case] api: &str,
    #[case] before: &str,
    #[case] after: &str,
    #[case] expected: &str,
    #[case] cause: &str,
) {
    let solver = |steps: &str| format!(r#"{{"new": {{"class": "Solver", "fields": {{"steps": {steps}}}}}}}"#);
    let explained = read(&[before, after].map(|steps| call(api, &solver(steps), "")));
    assert_eq!(said(&explained), (vec![expected.to_owned()], vec![cause]), "{explained:#?}");
    assert!(explained.calls[1].tried.as_ref().is_some_and(|tried| tried.mends && tried.minimal), "{explained:#?}");
}

/// What is static is named as what it is: an argument can be taken out of `static_argnums`, a field has to become data.
#[rstest]
#[case::argument("1", "2", "static-argument-number", "static_argnums")]
#[case::in_an_argument(
    r#"{"new": {"class": "Config", "fields": {"rate": 1}}}"#,
    r#"{"new": {"class": "Config", "fields": {"rate": 2}}}"#,
    "number-in-a-static-argument",
    "argument of its own"
)]
fn a_number_that_is_static(#[case] before: &str, #[case] after: &str, #[case] cause: &str, #[case] fix: &str) {
    let classes = r#""classes": {"Config": {"plain_dataclass": {"fields": ["rate"], "frozen": true}}, "#;
    let statics = r#", "options": {"static_argnums": [0]}"#;
    let lines = [before, after].map(|arg| call("jax.jit", arg, statics).replacen(r#""classes": {"#, classes, 1));
    let explained = read(&lines);
    assert_eq!(said(&explained).1, [cause], "{explained:#?}");
    assert!(explained.calls[1].advice[0].as_ref().unwrap().fix.contains(fix), "{explained:#?}");
}

/// A partial of a function that is jitted is a function, and an object that holds what can't be hashed is told so.
#[rstest]
#[case::partial(
    r#"{"partial": {"func": {"wrap": {"by": "jit", "func": {"def": {"name": "clip"}}}}, "kwargs": {"min": 0}}}"#,
    "function-made-anew",
    "Define it once"
)]
#[case::plain(
    r#"{"object": {"called": "<Agent rate=0.5>"}}"#,
    "object-without-equality",
    "@dataclasses.dataclass(frozen=True)"
)]
#[case::text(
    r#"{"object": {"called": "<Agent name='a[1] = int32[2]'>"}}"#,
    "object-without-equality",
    "@dataclasses.dataclass(frozen=True)"
)]
#[case::array(
    r#"{"object": {"called": "<Agent rate=0.5, w=float32[…]>"}}"#,
    "object-that-holds-arrays",
    "argument of its own"
)]
#[case::dict(
    r#"{"object": {"called": "<Agent params={…}, rate=0.5>"}}"#,
    "object-that-holds-arrays",
    "argument of its own"
)]
#[case::list(r#"{"object": {"called": "<Agent dims=[3, 4]>"}}"#, "object-that-holds-arrays", "tuples can")]
#[case::transformed(r#"{"def": {"name": "vmap of f at a.py:2"}}"#, "transformed-anew", "Transform the function once")]
fn what_is_made_anew_is_told_apart(#[case] object: &str, #[case] cause: &str, #[case] fix: &str) {
    let lines = [1, 2].map(|number| {
        let of = format!(r#""objects": {{"it_{number}": {object}, "#);
        let statics = r#", "options": {"static_argnums": [0]}"#;
        call("jax.jit", &format!(r#"{{"ref": "it_{number}"}}"#), statics).replacen(r#""objects": {"#, &of, 1)
    });
    let explained = read(&lines);
    assert_eq!(said(&explained).1, [cause], "{explained:#?}");
    assert!(explained.calls[1].advice[0].as_ref().unwrap().fix.contains(fix), "{explained:#?}");
}

/// A call without a static argument is farther from one that has it than any that has another value there.
#[test]
fn a_value_is_nearer_than_none() {
    let of = |args: &str| call("jax.jit", args, r#", "options": {"static_argnums": [1]}"#);
    let explained = read(&[r#""f32[]", {"str": "a"}"#, r#""f32[]""#, r#""f32[]", 3"#].map(of));
    assert_eq!(said(&explained).0, ["static value at t: 3 was 'a'"], "{explained:#?}");
}

/// A call that is given what another one leaves to the default means the same, which no other value does.
#[rstest]
#[case::passed([r#""f32[]""#, r#""f32[]", 3"#, r#""f32[]", 0"#], 1, "static argument at t: 0, its default was absent", "a-default-that-is-passed")]
#[case::left_out([r#""f32[]", 0"#, r#""f32[]", 3"#, r#""f32[]""#], 1, "static argument at t: absent was 0, its default", "a-default-that-is-left-out")]
#[case::another([r#""f32[]""#, r#""f32[]", 3"#, r#""f32[]", 4"#], 2, "static value at t: 4 was 3", "static-argument-number")]
fn a_default_is_as_near_as_can_be(
    #[case] args: [&str; 3],
    #[case] nearest: usize,
    #[case] difference: &str,
    #[case] cause: &str,
) {
    let of = |args: &str| call("jax.jit", args, r#", "options": {"static_argnums": [1]}"#);
    let explained = read(&args.map(of));
    let last = explained.calls.last().unwrap();
    assert_eq!(last.explanation().unwrap().nearest, Nearest::Call(nearest), "{explained:#?}");
    assert_eq!(said(&explained), (vec![difference.to_owned()], vec![cause]), "{explained:#?}");
}

/// What is equal to a default and of another type is none.
#[test]
fn a_member_of_an_enum_is_no_default() {
    let of = |args: &str| {
        let line = call("jax.jit", args, r#", "options": {"static_argnums": [1]}"#);
        line.replace(r#""classes": {"#, r#""classes": {"Mode": {"subclass": {"of": "int"}}, "#)
    };
    let explained = read(&[r#""f32[]""#, r#""f32[]", {"new": {"class": "Mode", "value": 0}}"#].map(of));
    let expected = (vec!["static argument at t: Mode(0) was absent".to_owned()], vec!["a-static-argument-more"]);
    assert_eq!(said(&explained), expected);
}

/// A member of an enum of numbers is no number that could be an array.
#[test]
fn a_member_of_an_enum_has_its_class() {
    let of = |value: &str| {
        let arg = format!(r#"{{"new": {{"class": "Mode", "value": {value}}}}}"#);
        let line = call("jax.jit", &arg, r#", "options": {"static_argnums": [0]}"#);
        line.replace(r#""classes": {"#, r#""classes": {"Mode": {"subclass": {"of": "int"}}, "#)
    };
    let expected = (vec!["static value at s: Mode(1) was Mode(0)".to_owned()], vec!["static-argument"]);
    assert_eq!(said(&read(&[of("0"), of("1")])), expected);
}

/// What was traced by `eval_shape` is as near as any once a call has gone on with it.
#[test]
fn what_was_traced_first_is_near_once_it_is_built() {
    let of = |more: &str, missed: &str| call("jax.jit", r#""f32[2]""#, more).replace(TRACED, missed);
    let ahead = of(r#", "via": "eval_shape""#, r#""trace""#);
    let (built, wide) = (of("", r#""dispatch", "lower", "compile""#), of(r#", "context": {"x64": true}"#, TRACED));
    let explained = read(&[ahead, built, call("jax.jit", r#""f16[2]""#, ""), wide]);
    assert!(explained.calls.iter().all(|call| call.is_predicted()), "{explained:#?}");
    assert_eq!(said(&explained).0, ["jax_enable_x64: true was false"], "{explained:#?}");
}

/// A static value that a case has no words for is said as Python writes it.
#[rstest]
#[case::nan("float__2", ["nan", "nan (2)"], "static value at s: nan (2) was nan", "static-nan")]
#[case::nothing("frozenset", ["{'a'}", ""], "static value at s: frozenset() was frozenset({'a'})", "static-argument")]
#[case::attributes("Rule", ["rate=1", "rate=2"], "static value at s: Rule(rate=2) was Rule(rate=1)", "static-argument")]
#[case::text("Rule", ["a", "'<a>'"], "static value at s: Rule('<a>') was Rule('a')", "static-argument")]
#[case::no_words("Rule", ["<Rule>", "<Rule> (2)"], "static value at s: Rule(<Rule> (2)) was Rule(<Rule>)", "static-argument")]
#[case::range("range", ["0, 3", "0, 4"], "static value at s: range(0, 4) was range(0, 3)", "static-argument")]
fn a_static_value_has_a_text(
    #[case] class: &str,
    #[case] values: [&str; 2],
    #[case] difference: &str,
    #[case] cause: &str,
) {
    let lines = [1, 2].map(|number| {
        let classes = format!(r#""classes": {{"{class}": {{"plain": {{"eq": "value", "hash": "value"}}}}, "#);
        let form = format!(r#"{{"new": {{"class": "{class}", "value": {{"str": "{}"}}}}}}"#, values[number - 1]);
        let of = format!(r#""objects": {{"it_{number}": {form}, "#);
        let statics = r#", "options": {"static_argnums": [0]}"#;
        let line = call("jax.jit", &format!(r#"{{"ref": "it_{number}"}}"#), statics);
        line.replacen(r#""classes": {"#, &classes, 1).replacen(r#""objects": {"#, &of, 1)
    });
    let explained = read(&lines);
    assert_eq!(said(&explained), (vec![difference.to_owned()], vec![cause]), "{explained:#?}");
}

/// Of the calls that use a program, the one is nearest that has most in common with what the layers below look at.
#[rstest]
#[case::the_second([1, 1], 2)]
#[case::the_first([0, 0], 1)]
fn who_uses_a_program_is_nearest(#[case] devices: [u32; 2], #[case] nearest: usize) {
    let [w, x] = devices;
    let arguments = [
        r#""f32[2]@0", "f32[4]@0""#.to_owned(),
        r#""f32[2]@1", "f32[4]@1""#.to_owned(),
        format!(r#""f32[2]@{w}", "f32[5]@{x}""#),
    ];
    let explained = read(&arguments.map(|args| call("jax.jit", &args, "")));
    let explanation = explained.calls[2].explanation().unwrap();
    assert_eq!((explanation.layer, explanation.nearest), (Layer::Trace, Nearest::Call(nearest)), "{explained:#?}");
}

/// The same of what a static field holds.
#[rstest]
#[case::plain("<Rule rate=0.5>", "aux-data-that-is-made-anew", "@dataclasses.dataclass(frozen=True)")]
#[case::array("<Rule rate=0.5, w=float32[…]>", "aux-data-that-holds-arrays", "a child of the node")]
fn a_static_field_that_is_made_anew(#[case] called: &str, #[case] cause: &str, #[case] fix: &str) {
    let lines = [1, 2].map(|number| {
        let classes = r#""classes": {"State": {"dataclass": {"data": ["x"], "meta": ["rule"]}}, "#;
        let of = format!(r#""objects": {{"it_{number}": {{"object": {{"called": "{called}"}}}}, "#);
        let state = format!(
            r#"{{"new": {{"class": "State", "fields": {{"x": "f32[2]", "rule": {{"ref": "it_{number}"}}}}}}}}"#
        );
        call("jax.jit", &state, "").replacen(r#""classes": {"#, classes, 1).replacen(r#""objects": {"#, &of, 1)
    });
    let explained = read(&lines);
    assert_eq!(said(&explained).1, [cause], "{explained:#?}");
    assert!(explained.calls[1].advice[0].as_ref().unwrap().fix.contains(fix), "{explained:#?}");
}

/// A field that is no data is structure, whatever it holds.
#[rstest]
#[case::number("1", "2", "structure at s.step: 2 was 1", "static-field-number", "should be an array, and data")]
#[case::text(
    r#"{"str": "a"}"#,
    r#"{"str": "b"}"#,
    "structure at s.step: 'b' was 'a'",
    "another-static-field",
    "Leave it as it is"
)]
#[case::dtype(
    "null",
    r#"{"global": "jnp.bfloat16"}"#,
    "structure at s.step: jnp.bf16 was None",
    "a-static-field-that-was-none",
    "set it before the first call"
)]
#[case::another_dtype(
    r#"{"global": "jnp.float16"}"#,
    r#"{"global": "jnp.bfloat16"}"#,
    "structure at s.step: jnp.bf16 was jnp.f16",
    "another-static-field",
    "Leave it as it is"
)]
fn a_field_that_is_static(
    #[values("jax.jit", "equinox.filter_jit")] api: &str,
    #[case] before: &str,
    #[case] after: &str,
    #[case] expected: &str,
    #[case] cause: &str,
    #[case] fix: &str,
) {
    let classes = r#""classes": {"State": {"dataclass": {"data": ["x"], "meta": ["step"]}}, "#;
    let lines = [before, after].map(|step| {
        let state = format!(r#"{{"new": {{"class": "State", "fields": {{"x": "f32[2]", "step": {step}}}}}}}"#);
        call(api, &state, "").replacen(r#""classes": {"#, classes, 1)
    });
    let explained = read(&lines);
    assert_eq!(said(&explained), (vec![expected.to_owned()], vec![cause]), "{explained:#?}");
    assert!(explained.calls[1].advice[0].as_ref().unwrap().fix.contains(fix), "{explained:#?}");
}

/// An array over a mesh of two devices.
fn over(spec: &str) -> String {
    let sharding = format!(r#"{{"mesh": {{"d": 2}}, "spec": [{spec}], "devices": [0, 1]}}"#);
    format!(r#"{{"array": {{"aval": "f32[8]", "placement": {{"sharding": {sharding}}}}}}}"#)
}

/// A state that comes back as XLA has placed it is placed so before the first call.
#[rstest]
#[case::split_otherwise(&over(""), "spread-otherwise")]
#[case::uncommitted(r#""f32[8]""#, "over-a-mesh-now")]
#[case::numpy(r#""np:f32[8]""#, "over-a-mesh-now")]
fn a_state_that_comes_back_elsewhere(#[case] first: &str, #[case] cause: &str) {
    let later = over(r#""d""#);
    let mut lines = [first, &later, &later].map(|arg| call("jax.jit", arg, ""));
    lines[2] = lines[2].replace(TRACED, "");
    if cause == "spread-otherwise" {
        lines[1] = lines[1].replace(r#""trace", "#, "");
    }
    let explained = read(&lines);
    let again = &explained.calls[1];
    let advice = again.advice[0].as_ref().unwrap();
    assert_eq!(advice.cause, cause, "{explained:#?}");
    assert!(advice.fix.contains("out_shardings"), "{advice:?}");
    let patterns: Vec<_> = explained.patterns.iter().map(|it| (it.id.as_str(), it.fix == advice.fix)).collect();
    assert_eq!(patterns, [("late-fixed-point", true)], "{explained:#?}");
}

/// Each flag is one difference, of which each can be enough: without them all four calls share a program.
#[test]
fn flags_are_mended_together() {
    let (high, warn) =
        (r#""jax_default_matmul_precision": {"str": "high"}"#, r#""jax_numpy_rank_promotion": {"str": "warn"}"#);
    let flags = ["".to_owned(), high.to_owned(), format!("{high}, {warn}"), warn.to_owned()];
    let explained =
        read(&flags.map(|flags| call("jax.jit", "3", &format!(r#", "context": {{"flags": {{{flags}}}}}"#))));
    let mends = explained.to_mend().into_iter().find(|pattern| pattern.id == "flags").unwrap();
    assert_eq!((mends.compiles, mends.saves), (3, 3), "{mends:#?}");
}

/// What is mended lets the call find its program, whatever is nearest to the layers below.
#[test]
fn a_program_of_another_lowering_says_nothing_of_what_is_saved() {
    let (split, whole, host) = (over(r#""d""#), over(""), r#""np:f32[8]""#);
    let mut lines =
        [[&*split, &*split], [host, host], [&*whole, &*split]].map(|args| call("jax.jit", &args.join(", "), ""));
    lines[2] = lines[2].replace(r#""trace", "#, "");
    let explained = read(&lines);
    let nearest: Vec<_> = explained.calls[2].explanations.iter().map(|explanation| explanation.nearest).collect();
    assert_eq!(nearest, [Nearest::Call(1), Nearest::Call(1), Nearest::Call(2)], "{explained:#?}");
    let mends = explained.to_mend().into_iter().find(|pattern| pattern.id == "spread-otherwise").unwrap();
    assert_eq!((mends.compiles, mends.saves), (1, 1), "{mends:#?}");
}

/// What keeps a call off the fast path is no cause of a compile that something beside it makes, alone it is one of its own miss.
#[rstest]
#[case::beside_another(r#""f32[4]@0", "f32[4]""#, &["committed at s: true was false", "sharding at t: device 0 was none"], &[("committed", 1)])]
#[case::beside_its_own(r#""f32[4]", "f32[4]@0""#, &["committed at t: true was false", "sharding at t: device 0 was none"], &[("committed", 1)])]
#[case::alone(r#""f32[4]", "f32[4]""#, &["sharding at t: device 0 was none"], &[("a-jax-array-now", 0)])]
fn what_costs_the_fast_path_alone(#[case] args: &str, #[case] differs: &[&str], #[case] to_mend: &[(&str, usize)]) {
    let mut lines = [r#""f32[4]", "np:f32[4]""#, args].map(|args| call("jax.jit", args, ""));
    let missed = if to_mend[0].1 == 0 { r#""dispatch""# } else { r#""dispatch", "lower", "compile""# };
    lines[1] = lines[1].replace(TRACED, missed);
    let explained = read(&lines);
    assert_eq!(said(&explained).0, differs, "{explained:#?}");
    let mends = explained.to_mend();
    assert_eq!(mends.iter().map(|it| (it.id.as_str(), it.compiles)).collect::<Vec<_>>(), to_mend, "{mends:#?}");
}

/// A seed and a key of the old kind are said as such, where all speaks for it.
#[rstest]
#[case::a_seed_first("3", r#""u32[2]""#, &["a-seed-and-then-a-key"; 3])]
#[case::a_key_first(r#""u32[2]""#, "3", &["a-key-and-then-a-seed"; 3])]
#[case::an_array_first(r#""i32[]""#, r#""u32[2]""#, &["a-seed-and-then-a-key"; 2])]
#[case::three("3", r#""u32[3]""#, &["a-scalar-that-grows", "another-dtype", "weak-type-lost"])]
#[case::a_float("3.0", r#""u32[2]""#, &["a-scalar-that-grows", "another-dtype", "weak-type-lost"])]
#[case::of_one_dtype(r#""u32[]""#, r#""u32[2]""#, &["a-scalar-that-grows"])]
#[case::keys(r#""key<fry>[]""#, r#""key<fry>[2]""#, &["keys-of-another-shape"])]
fn a_seed_beside_a_key(#[case] before: &str, #[case] after: &str, #[case] causes: &[&str]) {
    let explained = read(&[before, after].map(|arg| call("jax.jit", arg, "")));
    assert_eq!(said(&explained).1, causes, "{explained:#?}");
}

/// Of two calls that differ in one thing each the nearer one is that whose value is of the same kind; and flags are counted one by one.
#[rstest]
#[case::a_type(["4", "8", "4.0"], [STATIC; 3], "static type at s: 4.0 was 4", "another-static-type")]
#[case::a_shape([r#""~f32[3]""#, r#""f32[8]""#, r#""f32[3]""#], [""; 3], "weak_type at s: false was true", "weak-type-lost")]
#[case::a_flag_of_the_program(
    [r#"true, "~f32[]""#, r#"false, "f32[]""#, r#"true, "f32[]""#],
    [STATIC; 3],
    "weak_type at t: false was true",
    "weak-type-lost"
)]
#[case::a_kind(["3", r#"{"str": "a"}"#, "5"], [STATIC; 3], "static value at s: 5 was 3", "static-argument-number")]
#[case::a_number(["0", r#""f32[3]""#, "0.5"], [""; 3], "dtype at s: f32 (a Python float) was i32 (a Python int)", "another-kind-of-number")]
#[case::a_flag(
    ["3"; 3],
    ["", r#"{"jax_default_matmul_precision": {"str": "float32"}}"#, r#"{"jax_numpy_rank_promotion": {"str": "warn"}}"#],
    r#"flags: jax_numpy_rank_promotion="warn" was unset"#,
    "flags"
)]
#[case::at_compile_time(
    ["3"; 3],
    ["", r#"{"jax_default_matmul_precision": {"str": "float32"}}"#, r#"{"eager_constant_folding": true}"#],
    "flags: eager_constant_folding=True was unset",
    "in-compile-time-eval"
)]
#[case::a_key(
    [r#""key<fry>[]""#, r#""u32[2]""#, r#""key<rbg>[]""#],
    [""; 3],
    "dtype at s: key<rbg> was key<fry>",
    "keys-of-two-implementations"
)]
#[case::a_mesh(
    [&over(r#""d""#), r#""np:f32[8]""#, &over(r#""d""#).replace(r#""d""#, r#""e""#)],
    [""; 3],
    "mesh at s: e: 2 was d: 2",
    "over-another-mesh"
)]
fn what_is_of_the_same_kind_is_nearer(
    #[case] args: [&str; 3],
    #[case] more: [&str; 3],
    #[case] expected: &str,
    #[case] cause: &str,
) {
    let lines = [0, 1, 2].map(|i| {
        let more = match more[i] {
            flags if flags.starts_with('{') => format!(r#", "context": {{"flags": {flags}}}"#),
            more => more.to_owned(),
        };
        call("jax.jit", args[i], &more)
    });
    let explained = read(&lines);
    assert_eq!(explained.calls[2].explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    assert_eq!(said(&explained), (vec![expected.to_owned()], vec![cause]), "{explained:#?}");
}

/// To filter_jit a number is nearer to another one than to an array.
#[test]
fn a_number_is_nearer_to_a_number() {
    let explained = read(&["2", r#""f32[]""#, "3"].map(|arg| call("equinox.filter_jit", arg, "")));
    assert_eq!(explained.calls[2].explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    assert_eq!(said(&explained), (vec!["static value at s: 3 was 2".to_owned()], vec!["static-number"]));
}

/// How wide an array is follows from the flag, and is another array all the same; what a Python number becomes is the flag alone.
#[rstest]
#[case::an_array(r#""f32[3]""#, r#""f64[3]""#, &["jax_enable_x64: true was false", "dtype at s: f64 was f32"])]
#[case::a_number("1.0", "1.0", &["jax_enable_x64: true was false"])]
fn what_follows_from_the_width_of_numbers(#[case] narrow: &str, #[case] wide: &str, #[case] expected: &[&str]) {
    let other = call("jax.jit", r#""i64[4,4]""#, r#", "context": {"x64": true}"#);
    let lines = [call("jax.jit", narrow, ""), other, call("jax.jit", wide, r#", "context": {"x64": true}"#)];
    let explained = read(&lines);
    let last = &explained.calls[2];
    assert_eq!(last.explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    let (mut found, causes) = said(&explained);
    found.sort_by_key(|found| found.starts_with("dtype"));
    assert_eq!(found, expected, "{explained:#?}");
    assert!(causes.iter().all(|cause| *cause == "flags"), "{causes:?}");
    assert!(last.tried.as_ref().is_some_and(|tried| tried.mends && tried.minimal), "{explained:#?}");
}

/// Arrays that are wider than those of a call under the same flag are compared with that one.
#[test]
fn wider_arrays_under_one_flag() {
    let under = |leaf: &str, context: &str| call("jax.jit", &[leaf; 2].join(", "), context);
    let x64 = r#", "context": {"x64": true}"#;
    let lines = [under(r#""np:f32[3]""#, ""), under(r#""np:f32[3]""#, x64), under(r#""np:f64[3]""#, x64)];
    let explained = read(&lines);
    assert_eq!(explained.calls[2].explanation().unwrap().nearest, Nearest::Call(2), "{explained:#?}");
    assert!(said(&explained).1.iter().all(|cause| *cause == "another-dtype"), "{explained:#?}");
}

/// A method that is taken of its object anew is another function to the fast path alone, as long as an earlier one is there.
#[test]
fn a_function_that_is_equal_to_an_earlier_one() {
    let news = r#""objects": {"net_1": {"object": {"called": "<Net>"}},
        "m_1": {"method": {"of": {"ref": "net_1"}, "name": "Net.f"}}, "m_2": {"method": {"of": {"ref": "net_1"}, "name": "Net.f"}},
        "m_3": {"method": {"of": {"ref": "net_1"}, "name": "Net.f"}}}, "#;
    let of = |method: u32, missed: &str| {
        format!(
            r#"{{{} "api": "jax.jit", "name": "f", "at": "a.py:1", "from": "a.py:9", "wrapper": "w_{method}", "missed": [{missed}],
                "call": {{"function": {{"ref": "m_{method}"}}, "args": ["f32[2]"]}}}}"#,
            if method == 1 { news } else { "" }
        )
    };
    let explained = read(&[of(1, TRACED), of(2, r#""dispatch""#), of(3, r#""dispatch""#)]);
    let (found, causes) = said(&explained);
    assert!(found[0].starts_with("function: another"), "{explained:#?}");
    assert_eq!(causes, ["an-equal-function"], "{explained:#?}");
    let patterns: Vec<_> = explained.patterns.iter().map(|it| (it.id.as_str(), it.compiles, it.saves)).collect();
    assert_eq!(patterns, [("equal-functions-in-a-loop", 0, 0)], "{explained:#?}");
}

/// An eager loop of a function that was made anew is compared with a call of the same arrays.
#[test]
fn a_loop_over_the_same_arrays_is_nearer() {
    let call = |(i, arrays): (usize, &str)| {
        format!(
            r#"{{"api": "lax.scan", "name": "lax.scan", "at": "a.py:3", "from": "a.py:4", "missed": [{TRACED}],
                "objects": {{"body_{i}": {{"def": {{"name": "body at a.py:3", "returns": {{"tuple": ["{arrays}[]", null]}}}}}}}},
                "call": {{"args": [{{"ref": "body_{i}"}}, "{arrays}[]", "{arrays}[4]"]}}}}"#
        )
    };
    let mut lines: Vec<_> = ["f32", "i32", "f32"].into_iter().enumerate().map(call).collect();
    lines[1] = lines[1].replace("body_1", "body_0");
    lines[2] = lines[2].replace("name\": \"body", "name\": \"step");
    let explained = read(&lines);
    assert_eq!(explained.calls[2].explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    let (before, after) = ("<function body at a.py:3>", "<function step at a.py:3>");
    assert_eq!(said(&explained), (vec![format!("function at f: {after} was {before}")], vec!["body-made-anew"]));
}

/// What differs below the jaxpr of a body that was made anew is said of a loop of that body, though another's is as long.
#[test]
fn a_length_is_that_of_a_loop_of_the_same_body() {
    let call = |(i, (body, length)): (usize, (&str, usize))| {
        format!(
            r#"{{"api": "lax.scan", "name": "lax.scan", "at": "{body}.py:3", "from": "{body}.py:4", "missed": [{TRACED}],
                "objects": {{"body_{i}": {{"def": {{"name": "{body} at {body}.py:3"}}}}}},
                "call": {{"args": [{{"ref": "body_{i}"}}, "f32[]", "f32[{length}]"]}}}}"#
        )
    };
    let lines: Vec<_> = [("gae", 16), ("roll", 10), ("gae", 10)].into_iter().enumerate().map(call).collect();
    let explained = read(&lines);
    let found: Vec<_> =
        explained.calls[2].explanations.iter().flat_map(|it| &it.differences).map(ToString::to_string).collect();
    assert!(found.contains(&"number of steps: 10 was 16".to_owned()), "{explained:#?}");
    assert!(found.contains(&"shape at xs: [10] was [16]".to_owned()), "{explained:#?}");
}

/// A call that made what one of the same key had failed to make is one to be compared with.
#[test]
fn what_is_made_after_a_failure_is_near() {
    let failed =
        |args| call("jax.jit", args, "").replacen('{', r#"{"error": {"class": "ValueError", "message": ""}, "#, 1);
    let failed = |args| failed(args).replace(r#", "lower", "compile""#, "");
    let made = |args| call("jax.jit", args, "");
    let lines = [failed(r#""f32[4]""#), made(r#""f32[4]""#), failed(r#""f32[3]""#), made(r#""f32[2]""#)];
    let explained = read(&lines);
    assert_eq!(explained.calls[3].explanation().unwrap().nearest, Nearest::Call(2), "{explained:#?}");
    assert_eq!(said(&explained).0, ["shape at s: [2] was [4]"]);
}

/// A helper of a library that makes a loop of what it is given makes one for each solver, and another one for one that is made anew.
#[rstest]
#[case::two_solvers(&["a.py:1", "a.py:2"], 0)]
#[case::one_solver(&["a.py:1", "a.py:1", "a.py:1"], 2)]
#[case::one_after_the_other(&["a.py:1", "a.py:2", "a.py:1"], 1)]
fn loops_of_one_helper(#[case] closed_over: &[&str], #[case] again: usize) {
    let call = |(i, place): (usize, &&str)| {
        format!(
            r#"{{"api": "lax.while_loop", "name": "lax.while_loop", "at": "lib.py:5", "from": "lib.py:6", "missed": [{TRACED}],
                "objects": {{"cond_{i}": {{"def": {{"name": "cond at lib.py:4", "returns": false}}}}, "body_{i}": {{"def": {{"name": "body at lib.py:5"}}}}}},
                "outside": {{"cond_{i}": {{"most": "9"}}, "body_{i}": {{"step": "<lambda> at {place}"}}}},
                "call": {{"args": [{{"ref": "cond_{i}"}}, {{"ref": "body_{i}"}}, "f32[]"]}}}}"#
        )
    };
    let explained = read(&closed_over.iter().enumerate().map(call).collect::<Vec<_>>());
    assert_eq!(explained.calls.iter().filter(|call| call.is_again()).count(), again, "{explained:#?}");
}

/// What is lowered again is compared with a call of the same trace, though one of another has fewer differences.
#[test]
fn what_is_lowered_again_has_a_trace() {
    let of = |weights: &str, missed: &str| call("jax.jit", weights, "").replace(TRACED, missed);
    let lines = [
        of(r#"{"dict": {"w": "f32[2]", "b": "f32[2]"}}"#, TRACED),
        of(r#"{"dict": {"w": "f32[2]", "b": null}}"#, TRACED),
        of(r#"{"dict": {"w": "f32[2]@0", "b": "f32[2]@0"}}"#, r#""dispatch", "lower", "compile""#),
    ];
    let explained = read(&lines);
    assert_eq!(explained.calls[2].explanation().unwrap().nearest, Nearest::Call(1), "{explained:#?}");
    assert_eq!(said(&explained).0, ["committed at s['b']: true was false", "committed at s['w']: true was false"]);
}

/// What is lowered all the same once the trace is mended is said with what to do about it.
#[test]
fn what_differs_below_has_advice() {
    let of = |state: &str| call("jax.jit", state, "");
    let lines = [
        of(r#"{"dict": {"w": "f32[2]", "n": 0}}"#),
        of(r#"{"dict": {"w": "f32[2]", "n": "~i32[]"}}"#).replace(TRACED, r#""dispatch""#),
        of(r#"{"dict": {"w": "f32[2]@0", "n": "i32[]@0"}}"#),
    ];
    let explained = read(&lines);
    let further = explained.calls[2].further.iter();
    let further: Vec<_> = further.map(|it| (it.difference.to_string(), &*it.advice.as_ref().unwrap().cause)).collect();
    assert_eq!(further, [("committed at s['w']: true was false".to_owned(), "committed")], "{explained:#?}");
}

/// An argument that is the same in both calls, and lowered where `in_shardings` put it, isn't placed otherwise: the options differ.
#[test]
fn what_is_asked_for_is_of_the_options() {
    let options = r#", "options": {"in_shardings": {"sharding": {"mesh": {"x": 2}, "spec": ["x"]}}}"#;
    let lowered = call("jax.jit", r#""f32[2]""#, r#", "via": "lower""#).replace(TRACED, r#""lower""#);
    let explained = read(&[call("jax.jit", r#""f32[2]""#, options), lowered]);
    assert!(explained.calls[1].is_predicted(), "{explained:#?}");
    let (found, causes) = said(&explained);
    assert_eq!(found, ["shardings: [] was [in_shardings=P(x) over x: 2 on [0, 1]]"]);
    assert_eq!(causes, ["other-options"], "{explained:#?}");
}

/// NumPy's bool is no weaker than Python's, and a nan among the leaves of a partition no object without an `==`.
#[rstest]
#[case::bools(
    "jax.jit",
    ["true", r#"{"numpy_scalar": ["bool", 1]}"#],
    r#""dispatch""#,
    "weak_type at s: false of a numpy.bool was true of a bool",
    "a-bool-of-python"
)]
#[case::nans(
    "equinox.filter_jit",
    [r#"{"float": "nan"}"#; 2],
    TRACED,
    "static value at s: another nan was nan",
    "static-nan"
)]
fn values_that_look_alike(
    #[case] api: &str,
    #[case] values: [&str; 2],
    #[case] missed: &str,
    #[case] difference: &str,
    #[case] cause: &str,
) {
    let explained = read(&[call(api, values[0], ""), call(api, values[1], "").replace(TRACED, missed)]);
    assert_eq!(said(&explained), (vec![difference.to_owned()], vec![cause]), "{explained:#?}");
}
