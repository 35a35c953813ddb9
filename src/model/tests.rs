//! Python's equality and hash as the model has them.

use proptest::prelude::*;
use rstest::rstest;

use super::build::Namespace;
use super::object::{Obj, Raised, Ways};
use super::python;
use crate::case::text::from_yaml;
use crate::case::{Case, Value};
use crate::spec::Equality;

/// Treedefs that can be compared with anything.
fn lenient() -> Ways {
    let treedefs = Equality {
        same_type: false,
        hash: true,
        identity: true,
        equal: true,
        treedef_equals_others: true,
        any_dataclass: false,
    };
    Ways { treedefs, ..Ways::default() }
}

const CLASSES: &str = "\
{classes: {
  P: {namedtuple: [a]}, E: {plain: {eq: value, hash: value}}, S: {subclass: {of: E}}, T: {subclass: {of: str}},
  A: {plain: {eq: always, hash: constant}}, N: {plain: {eq: never}}, R: {plain: {eq: raises}}, B: {plain: {eq: array}},
  I: {int_enum: [one, two]}, G: {enum: [one]}, F: {plain_dataclass: {fields: [x], frozen: true}},
  M: {plain_dataclass: {fields: [x]}}}, steps: []}";

fn objects(a: &str, b: &str) -> (Obj, Obj) {
    let case: Case = from_yaml(CLASSES).unwrap();
    let names = Namespace::of(&case, lenient()).complete().unwrap();
    let build = |text: &str| names.build(&from_yaml::<Value>(text).unwrap()).unwrap();
    (build(a), build(b))
}

#[rstest]
#[case("1", "true", true)]
#[case("1", "1.0", true)]
#[case("1", "{complex: [1, 0]}", true)]
#[case("0.0", "-0.0", true)]
#[case("1", "{numpy_scalar: [f32, 1.0]}", true)]
#[case("1", "{str: '1'}", false)]
#[case("{float: nan}", "{float: nan}", false)]
#[case("{str: a}", "{bytes: a}", false)]
#[case("{str: a}", "{new: {class: T, value: {str: a}}}", true)]
#[case("{bytes: a}", "{bytearray: a}", true)]
#[case("{tuple: [1, 2]}", "{tuple: [true, 2.0]}", true)]
#[case("{tuple: [1]}", "[1]", false)]
#[case("{tuple: [1]}", "{new: {class: P, args: [1]}}", true)]
#[case("{frozenset: [1, 2]}", "{set: [2.0, true]}", true)]
#[case("{range: [0]}", "{range: [1, 1]}", true)]
#[case("{range: [0, 4, 3]}", "{range: [0, 5, 3]}", true)]
#[case("{dict: {a: 1, b: 2}}", "{dict: {b: 2, a: 1}}", true)]
#[case("{ordered_dict: {a: 1, b: 2}}", "{ordered_dict: {b: 2, a: 1}}", false)]
#[case("{ordered_dict: {a: 1, b: 2}}", "{dict: {b: 2, a: 1}}", true)]
#[case("{new: {class: E, value: 1}}", "{new: {class: E, value: true}}", true)]
#[case("{new: {class: E, value: 1}}", "{new: {class: S, value: 1}}", true)]
#[case("{new: {class: E, value: 1}}", "1", false)]
#[case("{new: {class: A, value: 1}}", "{new: {class: A, value: 2}}", true)]
#[case("{new: {class: N}}", "{new: {class: N}}", false)]
#[case("{new: {class: I, member: one}}", "1", true)]
#[case("{new: {class: G, member: one}}", "{new: {class: G, member: one}}", true)]
#[case("{new: {class: F, fields: {x: 1}}}", "{new: {class: F, fields: {x: 1.0}}}", true)]
#[case("{lambda: {}}", "{lambda: {}}", false)]
#[case("{global: jnp.sin}", "{global: jnp.sin}", true)]
#[case("'np:f32[1]'", "'np:f32[1]'", true)]
#[case("null", "false", false)]
fn equality(#[case] a: &str, #[case] b: &str, #[case] expect: bool) {
    let (a, b) = objects(a, b);
    assert_eq!(python::equal(&a, &b), Ok(expect));
    assert_eq!(python::equal(&b, &a), Ok(expect), "the other way around");
    if expect && let (Ok(a), Ok(b)) = (python::hash(&a), python::hash(&b)) {
        assert_eq!(a, b, "what is equal hashes alike");
    }
}

/// NEP 50: a number of Python's is one of the dtype of the scalar that it stands beside, and hashes as itself.
#[rstest]
#[case("0.1", "{numpy_scalar: [f32, 0.1]}", true)]
#[case("0.1", "{numpy_scalar: [f16, 0.1]}", true)]
#[case("0.1", "{numpy_scalar: [bf16, 0.1]}", false)]
#[case("{complex: [0.1, 0]}", "{numpy_scalar: [f32, 0.1]}", true)]
#[case("{numpy_scalar: [f64, 0.1]}", "{numpy_scalar: [f32, 0.1]}", false)]
#[case("16777217", "{numpy_scalar: [f32, 16777216]}", true)]
#[case("1.0e+300", "{numpy_scalar: [f32, {float: inf}]}", true)]
#[case("1000000", "{numpy_scalar: [f16, {float: inf}]}", true)]
fn a_number_beside_a_narrow_scalar(#[case] a: &str, #[case] b: &str, #[case] expect: bool) {
    let (a, b) = objects(a, b);
    assert_eq!(python::equal(&a, &b), Ok(expect));
    assert_eq!(python::equal(&b, &a), Ok(expect), "the other way around");
    assert_ne!(python::hash(&a), python::hash(&b));
}

#[test]
fn a_dtype_equals_its_scalar_type_and_hashes_otherwise() {
    let (a, b) = objects("{dtype: f32}", "{scalar_type: f32}");
    assert_eq!(python::equal(&a, &b), Ok(true));
    assert_ne!(python::hash(&a), python::hash(&b));
}

#[rstest]
#[case("{new: {class: R}}", "1", "RuntimeError")]
#[case("1", "{new: {class: R}}", "RuntimeError")]
#[case("{new: {class: B}}", "{new: {class: B}}", "ValueError")]
#[case("'np:f32[2]'", "'np:f32[2]'", "ValueError")]
#[case("'np:f32[2]'", "null", "ValueError")]
fn comparisons_that_raise(#[case] a: &str, #[case] b: &str, #[case] class: &str) {
    let (a, b) = objects(a, b);
    assert_eq!(python::equal(&a, &b), Err(Raised::new(class)));
}

#[rstest]
#[case("[1]")]
#[case("{dict: {}}")]
#[case("{set: [1]}")]
#[case("{bytearray: a}")]
#[case("{tuple: [[1]]}")]
#[case("'f32[2]'")]
#[case("'np:f32[2]'")]
#[case("{new: {class: M, fields: {x: 1}}}")]
#[case("{new: {class: F, fields: {x: [1]}}}")]
fn the_unhashable(#[case] value: &str) {
    assert_eq!(python::hash(&objects(value, "1").0), Err(Raised::new("TypeError")));
}

proptest! {
    #[test]
    fn equal_numbers_hash_alike(n in -1000_i64..1000) {
        let names = Namespace::of(&Case::default(), lenient());
        let float = names.build(&Value::Float(n as f64)).unwrap();
        let int = names.build(&Value::Int(n.into())).unwrap();
        prop_assert_eq!(python::equal(&int, &float), Ok(true));
        prop_assert_eq!(python::hash(&int), python::hash(&float));
    }
}
