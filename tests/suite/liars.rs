//! Targets with a defect are caught, and the finding is small.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jitkey::case::{Case, Step, text};
use jitkey::check::{Alone, Campaign};
use jitkey::report::text::{Style, finding};
use rstest::{Context, rstest};
use serde_json::{Value as Json, json};

use super::common::{Liar, NEWEST, campaign, run};

/// Rewrites every value of every call of a case, from the outside in; `depth` counts the containers around it.
fn rewritten(case: &Case, lie: fn(&Json, usize) -> Option<Json>) -> Case {
    fn walk(value: &mut Json, depth: usize, lie: fn(&Json, usize) -> Option<Json>) {
        if let Some(other) = lie(value, depth) {
            *value = other;
            return;
        }
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| walk(item, depth + 1, lie)),
            // These forms hold no values.
            Json::Object(map) if ["array", "partition_spec", "def"].iter().any(|tag| map.contains_key(*tag)) => {}
            Json::Object(map) => map.values_mut().for_each(|item| walk(item, depth, lie)),
            _ => {}
        }
    }
    let mut tree = serde_json::to_value(case).unwrap();
    let calls = tree["steps"].as_array_mut().unwrap().iter_mut().filter_map(|step| step.get_mut("call"));
    for call in calls {
        for part in ["args", "kwargs"] {
            match call.get_mut(part) {
                Some(Json::Array(args)) => args.iter_mut().for_each(|arg| walk(arg, 0, lie)),
                Some(Json::Object(kwargs)) => kwargs.values_mut().for_each(|arg| walk(arg, 0, lie)),
                _ => {}
            }
        }
    }
    text::from_json(&tree.to_string()).unwrap_or_else(|error| panic!("{error}: {tree}"))
}

fn strong(value: &Json, depth: usize, from: usize) -> Option<Json> {
    let text = value.as_str()?.strip_prefix('~')?;
    (depth >= from).then(|| json!(text))
}

fn weak_type_ignored(value: &Json, depth: usize) -> Option<Json> {
    strong(value, depth, 0)
}

fn weak_type_ignored_below_3(value: &Json, depth: usize) -> Option<Json> {
    strong(value, depth, 4)
}

fn none_taken_for_empty_tuple(value: &Json, _: usize) -> Option<Json> {
    value.is_null().then(|| json!({ "tuple": [] }))
}

fn true_taken_for_1(value: &Json, _: usize) -> Option<Json> {
    (*value == json!(true)).then(|| json!(1))
}

fn any_lambda_equal(value: &Json, _: usize) -> Option<Json> {
    value.get("lambda").map(|_| json!({ "global": "jnp.sin" }))
}

fn dict_keys_unsorted(value: &Json, _: usize) -> Option<Json> {
    value.get("dict").map(|items| json!({ "ordered_dict": items }))
}

fn numpy_taken_for_jax(value: &Json, _: usize) -> Option<Json> {
    let text = value.as_str()?.strip_prefix("np:")?;
    text.parse::<jitkey::case::Array>().is_ok().then(|| json!(text))
}

#[rstest]
#[case::weak_type_ignored(weak_type_ignored, "weak-type", 1)]
#[case::weak_type_ignored_below_3(weak_type_ignored_below_3, "weak-type", 5)]
#[case::none_taken_for_empty_tuple(none_taken_for_empty_tuple, "none-leaves", 2)]
#[case::true_taken_for_1(true_taken_for_1, "static-hashing", 2)]
#[case::any_lambda_equal(any_lambda_equal, "callable-identity", 2)]
#[case::dict_keys_unsorted(dict_keys_unsorted, "pytree-structure", 2)]
#[case::numpy_taken_for_jax(numpy_taken_for_jax, "call-form", 1)]
fn a_defect_is_found_and_made_small(
    #[context] context: Context,
    #[case] lie: fn(&Json, usize) -> Option<Json>,
    #[case] family: &str,
    #[case] most_values: usize,
) {
    // Pairs of one family only, so that a rule of another one doesn't move the draws.
    let campaign = Campaign { seed: 1, ..campaign("jax.jit", NEWEST, 8_000, |rule| rule.family() == family) };
    let summary = run(&campaign, Liar::new("jax.jit", move |case| rewritten(case, lie)));
    let found = summary.findings.iter().filter(|finding| finding.alone == Alone::Target);
    let smallest = found.min_by_key(|finding| size(&finding.case)).expect("the defect is found");
    assert!(smallest.case.steps.len() <= 2);
    let values = size(&smallest.case);
    assert!(values <= most_values, "{values} values: {}", text::to_yaml(&smallest.case));
    let name = format!("finding-{}", context.description.expect("every case has a name"));
    crate::snapshot!(name, finding(1, smallest, Some("jitkey replay findings/….yaml --target …"), Style::PLAIN));
}

/// How many values the larger of the calls has, containers and leaves.
fn size(case: &Case) -> usize {
    fn of(value: &jitkey::case::Value) -> usize {
        1 + value.children().into_iter().map(of).sum::<usize>()
    }
    let calls = case.steps.iter().filter_map(|step| match step {
        Step::Call(call) => Some(call.args.iter().chain(call.kwargs.values()).map(of).sum::<usize>()),
        _ => None,
    });
    calls.max().unwrap_or(0)
}

#[test]
fn a_finding_is_a_case_that_shows_it_again() {
    let campaign = campaign("jax.jit", super::common::NEWEST, 1_000, |rule| rule.id == "weak-type/flip");
    let summary = run(&campaign, Liar::new("jax.jit", |case| rewritten(case, weak_type_ignored)));
    let file = summary.findings[0].case_file();
    let again: jitkey::spec::CaseFile = text::from_yaml(&text::to_yaml(&file)).unwrap();
    assert_eq!(again.case, summary.findings[0].case);
    assert!(again.expect.is_some());
}

/// What a campaign has shown when it is stopped stays shown, as it came, and what the target did meanwhile says nothing.
#[test]
fn a_stopped_campaign_keeps_what_it_has() {
    let campaign = campaign("jax.jit", NEWEST, 1000, |_| true);
    let (stop, asked) = (Arc::clone(&campaign.stop), AtomicUsize::new(0));
    let liar = Liar::new("jax.jit", move |case| {
        if asked.fetch_add(1, Ordering::Relaxed) == 150 {
            stop.store(true, Ordering::Relaxed);
        }
        rewritten(case, weak_type_ignored)
    });
    let summary = run(&campaign, liar);
    let left_out: u64 = summary.rules.values().map(|rule| rule.left_out.values().sum::<u64>()).sum();
    assert_eq!((summary.pairs() + left_out, summary.not_run), (128, 1000 - 128));
    assert!(!summary.findings.is_empty() && summary.findings.iter().all(|finding| finding.reproduced));
}

fn of_four_as_of_three(value: &Json, _: usize) -> Option<Json> {
    (*value == json!("f32[4]")).then(|| json!("f32[3]"))
}

/// Of a program of many calls, whose verdicts are the model's, no more is left than shows the defect.
#[test]
fn what_a_program_shows_is_made_small() {
    let campaign = campaign("jax.jit", NEWEST, 20, |rule| rule.id == "together/whatever-is-donated");
    let summary = run(&campaign, Liar::new("jax.jit", |case| rewritten(case, of_four_as_of_three)));
    let finding = summary.findings.first().expect("the defect is found");
    assert_eq!((finding.case.steps.len(), finding.expected.len()), (2, 2), "{}", text::to_yaml(&finding.case));
    assert!(finding.reproduced && size(&finding.case) == 1, "{}", text::to_yaml(&finding.case));
}
