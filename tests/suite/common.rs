//! What several areas need.

use std::sync::LazyLock;

use jitkey::case::{Behaviour, Case, LayerSet};
use jitkey::check::{Campaign, Hazards, Shard, Summary};
use jitkey::generate::Generator;
use jitkey::model::{ModelError, Prediction, predict};
use jitkey::spec::{Profile, Rule, Spec, Version};
use jitkey::target::{About, Observation, Reference, Target, TargetError};
use proptest::prelude::*;

/// The spec that is built in.
pub static SPEC: LazyLock<Spec> = LazyLock::new(Spec::embedded);

/// The seed of campaigns in tests: the same pairs each time.
pub const SEED: u64 = 0x5eed;

/// The newest version of jax that a profile was made for.
pub const NEWEST: &str = "0.12.0.1";

/// Snapshots go to the top level's folder, without the path of the test in their names.
#[macro_export]
macro_rules! snapshot {
    ($name:expr, $content:expr) => {
        insta::with_settings!({ snapshot_path => "../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!($name, $content);
        })
    };
}

/// A campaign on `implementation` at `version`.
pub fn campaign<'s>(
    implementation: &'s str,
    version: &str,
    pairs: u64,
    wanted: impl Fn(&Rule) -> bool,
) -> Campaign<'s> {
    let parsed: Version = version.parse().unwrap();
    Campaign {
        spec: &SPEC,
        generator: Generator::new(&SPEC, implementation, &parsed, wanted).expect("there is a profile"),
        profile: SPEC.profile(implementation, &parsed).expect("there is a profile"),
        version: version.to_owned(),
        unknown_flags: Vec::new(),
        hazards: Hazards::default(),
        visible: LayerSet::ALL,
        seed: SEED,
        pairs,
        shard: Shard { number: 1, of: 1 },
        jobs: 1,
    }
}

/// What the model says of each call.
pub fn behaviour(case: &Case, profile: &Profile) -> Result<Vec<Behaviour>, ModelError> {
    Ok(predict(case, profile)?.iter().map(Prediction::behaviour).collect())
}

/// Runs a campaign on one target.
pub fn run<'t>(campaign: &Campaign<'_>, target: impl Target + 't) -> Summary {
    let open: &jitkey::check::Opener<'t> = &|| unreachable!("there is one job");
    campaign.run(Box::new(target), open, &|_| {}).expect("the target runs")
}

/// The reference model that is asked about another case than the one it is given: a target with a defect.
pub struct Liar<F> {
    reference: Reference<'static>,
    lie: F,
}

impl<F: Fn(&Case) -> Case + Send> Liar<F> {
    pub fn new(implementation: &str, lie: F) -> Self {
        Self { reference: Reference::new(&SPEC, implementation, NEWEST).unwrap(), lie }
    }
}

impl<F: Fn(&Case) -> Case + Send> Target for Liar<F> {
    fn about(&self) -> &About {
        self.reference.about()
    }

    fn observe(&mut self, cases: &[Case]) -> Result<Vec<Observation>, TargetError> {
        self.reference.observe(&cases.iter().map(&self.lie).collect::<Vec<_>>())
    }
}

/// Any value that needs no class and no object, as text forms see it.
pub fn any_value() -> impl Strategy<Value = jitkey::case::Value> {
    use jitkey::case::{DictItems, Dtype, Form, Value};
    let dtypes: Vec<Dtype> = Dtype::all().collect();
    let scalar = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| Value::Int(n.into())),
        any::<i128>().prop_map(Value::Int),
        any::<f64>().prop_filter("NaN is not equal to itself", |f| !f.is_nan()).prop_map(Value::Float),
        "[a-z~:>\\[\\]{}#'\" \\n]{0,8}".prop_map(|text| Form::Str(text).into()),
        "[a-z]{0,4}".prop_map(|text| Form::Bytes(text).into()),
        (-4_i64..4, -4_i64..4).prop_map(|(start, stop)| Form::Range(vec![start, stop]).into()),
        (prop::sample::select(dtypes), prop::collection::vec(0_u64..5, 0..4), any::<bool>()).prop_filter_map(
            "no library makes it",
            |(dtype, shape, weak)| {
                let dims: Vec<_> = shape.iter().map(u64::to_string).collect();
                let text = format!("{}{dtype}[{}]", if weak { "~" } else { "" }, dims.join(","));
                text.parse().ok().map(Value::Array)
            }
        ),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            items.clone().prop_map(Value::List),
            items.clone().prop_map(|items| Form::Tuple(items).into()),
            items.clone().prop_map(|items| Form::Frozenset(items).into()),
            prop::collection::vec((inner.clone(), inner), 0..3).prop_map(|items| Form::Dict(DictItems(items)).into()),
        ]
    })
}
