//! Laws that the model's keys obey, whatever the rules say. The dispatch key is asked for through predictions: a second
//! call hits if and only if its key is the same.

use jitkey::case::{Call, Case, DictItems, Form, JitOptions, Step, Value, Verdict};
use jitkey::generate::strategy::any_value;
use jitkey::spec::Profile;
use proptest::prelude::*;

use super::common::{NEWEST, SPEC, behaviour};

fn profile(implementation: &str) -> &'static Profile {
    SPEC.profile(implementation, &NEWEST.parse().unwrap()).unwrap()
}

fn calls(values: &[&Value], is_static: bool) -> Case {
    let call = |value: &&Value| Step::Call(Call { args: vec![(*value).clone()], ..Call::default() });
    Case {
        options: JitOptions { static_argnums: if is_static { vec![0] } else { vec![] }, ..JitOptions::default() },
        steps: values.iter().map(call).collect(),
        ..Case::default()
    }
}

/// The verdicts of the calls, if the model knows them.
fn verdicts(case: &Case, profile: &Profile) -> Option<Vec<Verdict>> {
    Some(behaviour(case, profile).ok()?.into_iter().map(|call| call.verdict).collect())
}

/// Whether the second of two calls hits; nothing if any call raises.
fn same_key(a: &Value, b: &Value, is_static: bool) -> Option<bool> {
    let verdicts = verdicts(&calls(&[a, b], is_static), profile("jax.jit"))?;
    match &verdicts[..] {
        [Verdict::Missed(_), Verdict::Missed(missed)] => Some(missed.is_empty()),
        _ => None,
    }
}

/// A value and one that is often equal to it: numbers take another type, dicts another order.
fn near(value: &Value) -> Value {
    match value {
        Value::Bool(b) => Value::Int((*b).into()),
        Value::Int(0) => Value::Float(-0.0),
        Value::Int(n @ 1..100) => Value::Float(*n as f64),
        Value::List(items) => Value::List(items.iter().map(near).collect()),
        Value::Form(form) => match &**form {
            Form::Tuple(items) => Form::Tuple(items.iter().map(near).collect()).into(),
            Form::Frozenset(items) => Form::Frozenset(items.iter().rev().map(near).collect()).into(),
            Form::Dict(items) => Form::Dict(reversed(items)).into(),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

fn reversed(items: &DictItems) -> DictItems {
    DictItems(items.0.iter().rev().cloned().collect())
}

proptest! {
    #[test]
    fn sameness_is_reflexive(value in any_value(), is_static in any::<bool>()) {
        prop_assert_ne!(same_key(&value, &value, is_static), Some(false));
    }

    #[test]
    fn sameness_is_symmetric(value in any_value(), other in any_value(), close in any::<bool>(), is_static in any::<bool>()) {
        let other = if close { near(&value) } else { other };
        if let (Some(ab), Some(ba)) = (same_key(&value, &other, is_static), same_key(&other, &value, is_static)) {
            prop_assert_eq!(ab, ba);
        }
    }

    #[test]
    fn sameness_is_transitive(a in any_value(), is_static in any::<bool>()) {
        let (b, c) = (near(&a), near(&near(&a)));
        if same_key(&a, &b, is_static) == Some(true) && same_key(&b, &c, is_static) == Some(true) {
            prop_assert_eq!(same_key(&a, &c, is_static), Some(true));
        }
    }

    #[test]
    fn the_order_of_a_dict_does_not_matter(items in prop::collection::btree_map("[a-e]", any_value(), 0..4)) {
        let items = DictItems(items.into_iter().map(|(key, value)| (Form::Str(key).into(), value)).collect());
        let (one, other) = (Form::Dict(items.clone()).into(), Form::Dict(reversed(&items)).into());
        prop_assert_ne!(same_key(&one, &other, false), Some(false));
    }

    #[test]
    fn an_earlier_entry_still_hits(a in any_value(), b in any_value()) {
        if let Some(verdicts) = verdicts(&calls(&[&a, &b, &a, &b], false), profile("jax.jit"))
            && verdicts.iter().all(|verdict| matches!(verdict, Verdict::Missed(_)))
        {
            prop_assert_eq!(&verdicts[2..], &[Verdict::HIT, Verdict::HIT]);
        }
    }

    #[test]
    fn a_miss_above_is_needed_for_a_miss_below(a in any_value(), b in any_value()) {
        for implementation in ["jax.jit", "equinox.filter_jit"] {
            for verdict in verdicts(&calls(&[&a, &b], false), profile(implementation)).into_iter().flatten() {
                let words = Verdict::WORDS.map(|(_, verdict)| verdict);
                prop_assert!(matches!(verdict, Verdict::Error(_)) || words.contains(&verdict), "{verdict}");
            }
        }
    }
}
