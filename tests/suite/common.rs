//! What several areas need.

use std::sync::{Arc, LazyLock};

use jitkey::case::{Case, LayerSet};
use jitkey::check::{Campaign, Hazards, Shard, Summary};
use jitkey::generate::Generator;
use jitkey::spec::{Rule, Spec, Version};
use jitkey::target::{About, Observation, Reference, Target, TargetError};

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
    campaign_at(implementation, &version.parse().unwrap(), pairs, wanted)
}

/// The same where it may be known which Python runs.
pub fn campaign_at<'s>(
    implementation: &'s str,
    version: &Version,
    pairs: u64,
    wanted: impl Fn(&Rule) -> bool,
) -> Campaign<'s> {
    Campaign {
        spec: &SPEC,
        generator: Generator::new(&SPEC, implementation, version, wanted).expect("there is a profile"),
        profile: SPEC.profile(implementation, version).expect("there is a profile"),
        version: version.to_string(),
        unknown_flags: Vec::new(),
        hazards: Hazards::default(),
        visible: LayerSet::ALL,
        seed: SEED,
        pairs,
        shard: Shard { number: 1, of: 1 },
        jobs: 1,
        stop: Arc::default(),
    }
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
