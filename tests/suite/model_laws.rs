//! Laws that the model's keys obey, whatever the rules say. The dispatch key is asked for through predictions: a second
//! call hits if and only if its key is the same.

use jitkey::case::{Call, Case, DictItems, Form, JitOptions, Step, Value, Verdict};
use jitkey::generate::strategy::any_value;
use jitkey::model::behaviour;
use jitkey::spec::Profile;
use proptest::prelude::*;

use super::common::{NEWEST, SPEC};

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

fn reversed(items: &DictItems) -> DictItems {
    DictItems(items.0.iter().rev().cloned().collect())
}

proptest! {
    #[test]
    fn the_order_of_a_dict_does_not_matter(items in prop::collection::btree_map("[a-e]", any_value(), 0..4)) {
        let items = DictItems(items.into_iter().map(|(key, value)| (Form::Str(key).into(), value)).collect());
        let (one, other) = (Form::Dict(items.clone()).into(), Form::Dict(reversed(&items)).into());
        // Not every dict is the same key again: float0 never takes the fast path.
        prop_assert_eq!(same_key(&one, &other, false), same_key(&one, &one, false));
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
