//! The text forms of values and cases.

use jitkey::case::text::{from_json, from_yaml, to_json, to_yaml};
use jitkey::case::{Array, Call, Case, Step, Value, Verdict};
use jitkey::generate::strategy::any_value;
use proptest::prelude::*;
use rstest::rstest;

proptest! {
    #[test]
    fn values_round_trip(value in any_value()) {
        prop_assert_eq!(&from_json::<Value>(&to_json(&value)).unwrap(), &value);
        prop_assert_eq!(&from_yaml::<Value>(&to_yaml(&value)).unwrap(), &value);
    }

    #[test]
    fn cases_round_trip(args in prop::collection::vec(any_value(), 0..3)) {
        let case = Case { steps: vec![Step::Call(Call { args, ..Call::default() })], ..Case::default() };
        prop_assert_eq!(&from_json::<Case>(&to_json(&case)).unwrap(), &case);
        prop_assert_eq!(&from_yaml::<Case>(&to_yaml(&case)).unwrap(), &case);
    }
}

#[rstest]
fn written_cases_round_trip() {
    for file in super::common::SPEC.cases.values() {
        // As text, in which a nan is what it was.
        let (yaml, json) = (to_yaml(&file.case), to_json(&file.case));
        assert_eq!(to_yaml(&from_yaml::<Case>(&yaml).unwrap()), yaml, "{}", file.id);
        assert_eq!(to_json(&from_json::<Case>(&json).unwrap()), json, "{}", file.id);
    }
}

#[rstest]
#[case("f32[3,4]")]
#[case("~f32[]")]
#[case("np:f32[3]")]
#[case("np:>i32[2]")]
#[case("key<fry>[2]")]
#[case("f32[3]@1")]
#[case("f32[3]=2")]
#[case("np:float0[3]")]
#[case("f8_e4m3fn[1]")]
fn arrays_round_trip(#[case] text: &str) {
    assert_eq!(text.parse::<Array>().unwrap().to_string(), text);
}

#[rstest]
#[case("nan", "{float: nan}")]
#[case("-inf", "{float: -inf}")]
#[case("(1, True)", "{tuple: [1, true]}")]
#[case("{\"a\": f32[], 1: None}", "{dict: [[{str: a}, 'f32[]'], [1, null]]}")]
#[case("[~f32[2], np:f32[]]", "['~f32[2]', 'np:f32[]']")]
#[case("170141183460469231731687303715884105727", "{int: '170141183460469231731687303715884105727'}")]
#[case("functools.partial(jnp.sin, 1, k=2)", "{partial: {func: {global: jnp.sin}, args: [1], kwargs: {k: 2}}}")]
fn values_read_as_python(#[case] notation: &str, #[case] yaml: &str) {
    assert_eq!(from_yaml::<Value>(yaml).unwrap().to_string(), notation);
}

#[rstest]
#[case("relu", "is not an array")]
#[case("f23[3]", "did you mean `f32`?")]
#[case("float32[3]", "did you mean `f32`?")]
#[case("~np:f32[3]", "NumPy arrays have no weak_type")]
#[case("'>f32[3]'", "only NumPy arrays have a byte order")]
#[case("key<xyz>[]", "is not a PRNG implementation")]
#[case("{tuple: [1], list: [2]}", "a value has one form")]
#[case("{}", "an empty map is no value")]
#[case(".nan", "write {float: nan}")]
#[case("{tupel: [1]}", "unknown variant `tupel`")]
#[case("{lambda: {x: 1}}", "unknown field `x`")]
#[case("{int: '340282366920938463463374607431768211455'}", "number too large")]
fn what_is_no_value_is_refused(#[case] yaml: &str, #[case] reason: &str) {
    let error = from_yaml::<Value>(yaml).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[rstest]
#[case("hit", Verdict::HIT)]
#[case("trace", Verdict::TRACE)]
#[case("{error: TypeError}", Verdict::Error("TypeError".into()))]
#[case("{missed: [dispatch, lower, compile]}", Verdict::LOWER)]
fn verdicts_are_read(#[case] yaml: &str, #[case] verdict: Verdict) {
    assert_eq!(from_yaml::<Verdict>(yaml).unwrap(), verdict);
    assert_eq!(from_json::<Verdict>(&to_json(&verdict)).unwrap(), verdict);
}

#[rstest]
#[case("{steps: [{call: {args: [{ref: x}]}}]}", "there is no object `x`")]
#[case("{objects: {x: 1}, steps: [{drop: x}, {call: {args: [{ref: x}]}}]}", "there is no object `x` here")]
#[case("{steps: [{call: {args: [{new: {class: C, args: []}}]}}]}", "there is no class `C`")]
#[case(
    "{classes: {P: {namedtuple: [a]}}, steps: [{call: {args: [{new: {class: P, args: []}}]}}]}",
    "must have 1 elements"
)]
#[case("{classes: {N: {node: {}}}, steps: [{call: {args: [{new: {class: N}}]}}]}", "`children` is missing")]
#[case("{steps: [{call: {args: [{output: {call: 1}}]}}]}", "call 1 has not happened yet")]
#[case("{steps: [{call: {args: ['f32[]@1']}}]}", "needs `devices: 2`")]
#[case(
    "{steps: [{call: {args: [{repeat: {times: 65535, in: list, value: {tuple: [{repeat: {times: 65535, in: tuple, value: 1}}]}}}]}}]}",
    "these are 4294836225 values that are alike; write at most 1000000"
)]
#[case(
    "{steps: [{call: {args: [{array: {aval: 'f32[2]', placement: {sharding: {mesh: {y: 1}, spec: [x]}}}}]}}]}",
    "the mesh has no axis `x`"
)]
#[case(
    "{steps: [{call: {args: [{array: {aval: 'f32[2]', placement: {sharding: {mesh: {x: 1}, spec: [[x, x]]}}}}]}}]}",
    "the mesh has no axis `x`"
)]
#[case(
    "{steps: [{call: {args: [{array: {aval: 'f32[2]', placement: {sharding: {mesh: {y: 1}, explicit: [x]}}}}]}}]}",
    "the mesh has no axis `x`"
)]
#[case(
    "{devices: 2, steps: [{call: {args: [{array: {aval: 'f32[2]', placement: {device: 1, moved_off: {mesh: {x: 2}}}}}]}}]}",
    "write `committed: true` and `device`, or nothing of these"
)]
#[case(
    "{devices: 2, steps: [{call: {args: [{array: {aval: 'f32[2]', placement: {committed: true, moved_off: {mesh: {x: 2}, spec: [y]}}}}]}}]}",
    "the mesh has no axis `y`"
)]
fn what_cannot_run_is_refused(#[case] yaml: &str, #[case] reason: &str) {
    let error = from_yaml::<Case>(yaml).unwrap().validate().unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[rstest]
#[case("{args: ['f32[]'], options: {donate_argnums: [0]}}", "jit(f, donate_argnums=(0,))(f32[])")]
#[case("{args: ['f32[]'], options: {}, wrapper: second}", "jit(f)(f32[]) through the wrapper second")]
#[case("{function: {ref: g}, args: ['f32[]'], via: lower}", "jit(g).lower(f32[])")]
#[case("{args: ['f32[]']}", "f(f32[])")]
fn a_call_says_how_its_function_is_wrapped(#[case] yaml: &str, #[case] notation: &str) {
    assert_eq!(from_yaml::<Call>(yaml).unwrap().to_string(), notation);
}
