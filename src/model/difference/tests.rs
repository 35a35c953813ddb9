//! What a miss is explained by.

use super::Difference;
use crate::case::{Case, text};
use crate::generate::{Generator, Source};
use crate::model::Simulation;
use crate::spec::Spec;

/// What the last call of `steps` says, at the topmost layer that it missed.
fn differences(implementation: &str, steps: &str) -> Vec<String> {
    let spec = Spec::embedded();
    let case: Case = text::from_yaml(steps).unwrap();
    let mut simulation = Simulation::explaining(&case, spec.newest_profile(implementation).unwrap()).unwrap();
    let predictions: Vec<_> = case.steps.iter().filter_map(|step| simulation.step(step).unwrap()).collect();
    predictions.last().unwrap().differences().iter().map(Difference::to_string).collect()
}

#[rstest::rstest]
#[case::leaves_beside_a_new_key(
    "jax.jit",
    "steps:\n\
     - call: {args: [{dict: {a: \"f32[2]\", c: \"f32[]\"}}]}\n\
     - call: {args: [{dict: {a: \"f32[3]\", b: [\"f32[]\"], c: \"~f32[]\"}}]}\n",
    &["structure at args[0]['b']: list of 1 was absent", "shape at args[0]['a']: [3] was [2]",
      "weak_type at args[0]['c']: true was false"]
)]
#[case::a_key_less(
    "jax.jit",
    "steps:\n\
     - call: {args: [{dict: {a: \"f32[2]\", b: {tuple: []}}}]}\n\
     - call: {args: [{dict: {a: \"f32[2]\"}}]}\n",
    &["structure at args[0]['b']: absent was tuple of 0"]
)]
#[case::a_key_of_what_was_empty(
    "jax.jit",
    "steps:\n\
     - call: {args: [{dict: {}}]}\n\
     - call: {args: [{dict: {a: \"f32[2]\"}}]}\n",
    &["structure at args[0]['a']: f32[2] was absent"]
)]
#[case::a_number_beside_an_empty_dict(
    "jax.jit",
    "steps:\n\
     - call: {args: [{dict: {a: 1.0, b: 2.0}}]}\n\
     - call: {args: [{dict: {a: {dict: {}}, b: 2.0}}]}\n\
     - call: {args: [{dict: {a: true, b: 2.0}}]}\n",
    &["dtype at args[0]['a']: bool (a Python bool) was f32 (a Python float)"]
)]
#[case::keys_in_another_order(
    "jax.jit",
    "steps:\n\
     - call: {args: [{ordered_dict: {b: \"f32[2]\", a: \"f32[]\"}}]}\n\
     - call: {args: [{ordered_dict: {a: \"f32[]\", b: \"f32[3]\"}}]}\n",
    &["key order at args[0]: 'a', 'b' was 'b', 'a'", "shape at args[0]['b']: [3] was [2]"]
)]
#[case::a_longer_list(
    "jax.jit",
    "steps:\n\
     - call: {args: [[\"f32[2]\"], \"i32[]\"]}\n\
     - call: {args: [[\"f32[3]\", \"f32[]\"], \"f32[]\"]}\n",
    &["structure at args[0]: list of 2 was list of 1", "shape at args[0][0]: [3] was [2]", "dtype at args[1]: f32 was i32"]
)]
#[case::an_argument_more(
    "jax.jit",
    "steps:\n\
     - call: {args: [\"f32[]\"]}\n\
     - call: {args: [\"f32[]\", 1]}\n",
    &["argument at args[1]: ~i32[] was absent"]
)]
#[case::by_name_what_was_by_position(
    "jax.jit",
    "function: {def: {params: [x]}}\n\
     steps:\n\
     - call: {args: [\"f32[]\"]}\n\
     - call: {kwargs: {x: \"f32[]\"}}\n",
    &["number of positional arguments: 0 was 1", "keyword names: [x] was []"]
)]
#[case::a_static_more(
    "jax.jit",
    "function: {def: {params: [x, {name: train, default: true}]}}\n\
     options: {static_argnames: [train]}\n\
     steps:\n\
     - call: {args: [\"f32[]\"]}\n\
     - call: {args: [\"f32[]\"], kwargs: {train: false}}\n",
    &["static argument at train: False was absent"]
)]
#[case::static_now(
    "jax.jit",
    "function: {def: {params: [x, n]}}\n\
     steps:\n\
     - call: {args: [\"f32[]\", 2]}\n\
     - call: {args: [\"f32[]\", 2], options: {static_argnums: [1]}}\n",
    &["static argument at n: static 2 was ~i32[]"]
)]
#[case::static_before(
    "jax.jit",
    "function: {def: {params: [x, n]}}\n\
     steps:\n\
     - call: {args: [\"f32[]\"], kwargs: {n: 2}, options: {static_argnames: [n]}}\n\
     - call: {args: [\"f32[2]\"], kwargs: {n: 2}}\n",
    &["static argument at n: ~i32[] was static 2", "shape at x: [2] was []"]
)]
#[case::a_dtype_in_two_forms_in_what_is_static(
    "jax.jit",
    "classes: {Config: {plain_dataclass: {fields: [drop, dtype], frozen: true}}}\n\
     options: {static_argnums: [0]}\n\
     steps:\n\
     - call: {args: [{new: {class: Config, fields: {drop: 1, dtype: {dtype: f32}}}}]}\n\
     - call: {args: [{new: {class: Config, fields: {drop: 1, dtype: {global: jnp.float32}}}}]}\n",
    &["static hash at args[0].dtype: jnp.f32 was dtype(f32)"]
)]
#[case::a_dtype_in_two_forms_beside_a_number(
    "jax.jit",
    "classes: {Config: {plain_dataclass: {fields: [drop, dtype], frozen: true}}}\n\
     options: {static_argnums: [0]}\n\
     steps:\n\
     - call: {args: [{new: {class: Config, fields: {drop: 1, dtype: {dtype: f32}}}}]}\n\
     - call: {args: [{new: {class: Config, fields: {drop: 2, dtype: {global: jnp.float32}}}}]}\n",
    &["static value at args[0].drop: 2 was 1", "static hash at args[0].dtype: jnp.f32 was dtype(f32)"]
)]
#[case::a_static_whose_name_begins_as_another(
    "jax.jit",
    "function: {def: {params: [x, {name: x2, default: true}]}}\n\
     options: {static_argnames: [x2]}\n\
     steps:\n\
     - call: {args: [\"f32[]\"]}\n\
     - call: {args: [\"f32[2]\"], kwargs: {x2: false}}\n",
    &["shape at x: [2] was []", "static argument at x2: False was absent"]
)]
#[case::a_call_that_failed_left_no_key(
    "jax.jit",
    "function: {def: {params: [x, n]}}\n\
     options: {static_argnames: [n]}\n\
     steps:\n\
     - call: {args: [\"f32[]\"], kwargs: {n: 4}}\n\
     - call: {args: [\"f32[]\"], kwargs: {n: \"f32[]\"}}\n\
     - call: {args: [\"f32[]\"], kwargs: {n: {numpy_scalar: [i64, 4]}}}\n",
    &["static type at n: np.i64(4) was 4"]
)]
#[case::nobody_passes_the_dummy(
    "equinox.filter_jit",
    "steps:\n\
     - call: {args: [\"f32[]\"]}\n\
     - call: {args: [\"f32[]\", \"f32[2]\"]}\n",
    &["argument at args[1]: f32[2] was absent"]
)]
#[case::children_by_their_keys(
    "jax.jit",
    "classes: {Pair: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Pair, children: [\"f32[2]\", \"f32[]\"], keys: [.a, .c]}}]}\n\
     - call: {args: [{new: {class: Pair, children: [\"f32[2]\", \"i32[]\", \"f32[3]\"], keys: [.a, .b, .c]}}]}\n",
    &["structure at args[0].b: i32[] was absent", "shape at args[0].c: [3] was []"]
)]
#[case::data_beside_children_of_another_size(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b], aux: {str: sgd}}}]}\n\
     - call: {args: [{new: {class: Model, children: [[\"f32[]\", \"f32[]\"], \"f32[]\"], keys: [.a, .b], aux: {str: adam}}}]}\n",
    &["structure at args[0].aux: 'adam' was 'sgd'", "structure at args[0].a: list of 2 was leaf"]
)]
#[case::a_tuple_beside_children_that_lists_no_names(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\"], keys: [.a], aux: {tuple: [1, 2]}}}]}\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b], aux: {tuple: [1, 2, 3]}}}]}\n",
    &["structure at args[0].b: f32[] was absent", "structure at args[0].aux: (1, 2, 3) was (1, 2)"]
)]
#[case::an_item_for_each_child(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\"], keys: [.a], aux: {tuple: [7]}}}]}\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b], aux: {tuple: [7, 8]}}}]}\n",
    &["structure at args[0].b: f32[] was absent"]
)]
#[case::an_item_for_each_child_of_which_one_differs(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\"], keys: [.a], aux: {tuple: [7]}}}]}\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b], aux: {tuple: [9, 8]}}}]}\n",
    &["structure at args[0].b: f32[] was absent", "structure at args[0].aux: (9, 8) was (7,)"]
)]
#[case::names_with_what_belongs_to_them(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\"], keys: [.a], aux: {tuple: [{tuple: [{str: a}, 1]}]}}}]}\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b], aux: {tuple: [{tuple: [{str: a}, 1]}, {tuple: [{str: b}, 2]}]}}}]}\n",
    &["structure at args[0].b: f32[] was absent"]
)]
#[case::a_name_that_has_something_else(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\"], keys: [.a], aux: {tuple: [{tuple: [{str: a}, 1]}, {str: x}]}}}]}\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b], aux: {tuple: [{tuple: [{str: a}, 3]}, {tuple: [{str: b}, 2]}, {str: x}]}}}]}\n",
    &["structure at args[0].b: f32[] was absent", "structure at args[0].aux: (('a', 3), ('b', 2), 'x') was (('a', 1), 'x')"]
)]
#[case::names_in_a_dict(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\"], keys: [.a], aux: {dict: {a: 1}}}}]}\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b], aux: {dict: {a: 1, b: 2}}}}]}\n",
    &["structure at args[0].b: f32[] was absent"]
)]
#[case::data_beside_children_of_other_names(
    "jax.jit",
    "classes: {Model: {node: {}}}\n\
     steps:\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\"], keys: [.a], aux: {tuple: [{tuple: [{str: a}]}, {str: sgd}]}}}]}\n\
     - call: {args: [{new: {class: Model, children: [\"f32[]\", \"f32[]\"], keys: [.a, .b],\
                            aux: {tuple: [{tuple: [{str: a}, {str: b}]}, {str: adam}]}}}]}\n",
    &["structure at args[0].b: f32[] was absent", "structure at args[0].aux[1]: 'adam' was 'sgd'"]
)]
#[case::fields_of_another_namedtuple(
    "jax.jit",
    "classes: {Sgd: {namedtuple: [count, trace]}, Adam: {namedtuple: [mu, nu]}}\n\
     steps:\n\
     - call: {args: [{dict: {a: {new: {class: Sgd, args: [\"i32[]\", \"f32[3]\"]}}, b: \"f32[]\"}}]}\n\
     - call: {args: [{dict: {a: {new: {class: Adam, args: [\"f32[3]\", \"~f32[]\"]}}, b: \"i32[]\"}}]}\n",
    &["structure at args[0]['a'].__class__: <class Adam> was <class Sgd>", "dtype at args[0]['b']: i32 was f32"]
)]
#[case::a_field_less_of_another_namedtuple(
    "equinox.filter_jit",
    "classes: {A: {namedtuple: [count, grad]}, B: {namedtuple: [count]}}\n\
     steps:\n\
     - call: {args: [[{new: {class: A, args: [1, \"f32[3]\"]}}]]}\n\
     - call: {args: [[{new: {class: B, args: [2]}}]]}\n",
    &["structure at args[0][0]: B of 1 was A of 2"]
)]
#[case::a_number_then_a_key(
    "jax.jit",
    "steps:\n\
     - call: {args: [0]}\n\
     - call: {args: [\"key<fry>[]\"]}\n",
    &["dtype at args[0]: key<fry> was i32", "sharding at args[0]: device 0 was none"]
)]
#[case::a_placement_in_two_spellings(
    "jax.jit",
    "devices: 2\n\
     steps:\n\
     - call: {args: [{array: {aval: \"f32[2,2]\", placement: {sharding: {mesh: {x: 2}, spec: [x, null]}}}}]}\n\
     - call: {args: [{array: {aval: \"f32[2,2]\", placement: {sharding: {mesh: {x: 2}, spec: [x]}}}}]}\n",
    &["spelling of the sharding at args[0]: P(x) over x: 2 on [0, 1] was P(x, None) over x: 2 on [0, 1]"]
)]
#[case::the_nearest_of_several(
    "jax.jit",
    "steps:\n\
     - call: {args: [\"f32[2]\", \"f32[]\"]}\n\
     - call: {args: [\"f32[3]\", \"i32[]\"]}\n\
     - call: {args: [\"f32[2]\", \"~f32[]\"]}\n",
    &["weak_type at args[1]: true was false"]
)]
#[case::none_where_an_array_was(
    "equinox.filter_jit",
    "steps:\n\
     - call: {args: [{dict: {g: \"f32[2]\", n: 1}}]}\n\
     - call: {args: [{dict: {g: null, n: \"f32[]\"}}]}\n",
    &["structure at args[0]['g']: None was leaf", "static or traced at args[0]['n']: f32[] was 1"]
)]
fn a_miss_is_explained(#[case] implementation: &str, #[case] steps: &str, #[case] expected: &[&str]) {
    assert_eq!(differences(implementation, steps), expected);
}

#[rstest::rstest]
#[case::of_all("xs", "[3]", "[4]", true)]
#[case::of_a_part("xs['a']", "[3,2]", "[4,2]", true)]
#[case::another_row("xs", "[3,2]", "[4,1]", false)]
#[case::another_length("xs", "[5]", "[4]", false)]
#[case::of_the_carry("init", "[3]", "[4]", false)]
#[case::a_number("xs", "[]", "[4]", false)]
fn the_length_of_a_loop_is_its_steps(
    #[case] path: &str,
    #[case] before: &str,
    #[case] after: &str,
    #[case] is_it: bool,
) {
    let steps = Difference::new("lax.scan", super::STEPS, "3", "4");
    assert_eq!(Difference::new(path, "shape", before, after).follows_from(&steps), is_it);
    assert!(!Difference::new(path, "dtype", before, after).follows_from(&steps));
}

/// Keys whose parts stand side by side differ as they do where each part is looked up by its path, in which these tests compare both.
#[rstest::rstest]
fn parts_side_by_side_differ_as_by_their_paths(
    #[values("jax.jit", "equinox.filter_jit", "lax.while_loop")] implementation: &str,
) {
    let (spec, version) = (Spec::embedded(), "0.12.0.1".parse().unwrap());
    let profile = spec.profile(implementation, &version).unwrap();
    let generator = Generator::new(&spec, implementation, &version, |_| true).unwrap();
    let mut missed = 0;
    for seed in 0..2000 {
        let Ok((_, pair)) = generator.any(&mut Source::random(seed)) else { continue };
        let Ok(mut simulation) = Simulation::explaining(&pair.case, profile) else { continue };
        let predictions: Vec<_> = pair.case.steps.iter().map_while(|step| simulation.step(step).ok()).collect();
        missed += predictions.iter().flatten().filter(|prediction| !prediction.differences().is_empty()).count();
    }
    assert!(missed > 200, "only {missed} calls missed");
}
