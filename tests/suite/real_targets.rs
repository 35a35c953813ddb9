//! The real jax.jit, equinox.filter_jit and eager loops of jax.lax, in private environments that are set up on first use.
//!
//! These tests need Python 3 and, the first time, the network; without them they fail and say what is missing.

use std::process::Command;

use jitkey::check::{Judgement, judge};
use jitkey::model::behaviour;
use jitkey::report::text::{Style, finding};
use jitkey::spec::Version;
use jitkey::target::{Limits, Target, TargetName, open};
use rstest::rstest;

use super::common::{SPEC, campaign};

/// As many pairs of each rule as two minutes allow.
const PAIRS_A_RULE: u64 = 3;

fn target(name: &str) -> Box<dyn Target> {
    let name: TargetName = name.parse().unwrap();
    let mut say = |line: &str| eprintln!("{line}");
    open(&SPEC, &name, None, Limits::default(), &mut say).unwrap_or_else(|error| panic!("{error}"))
}

#[rstest]
#[case("jax.jit")]
#[case("equinox.filter_jit")]
#[case("flax.nnx.jit")]
#[case("jax.jit@0.6.2")]
#[case("equinox.filter_jit@0.6.2")]
// Here statics are compared without their hashes, in tables that all cases share.
#[case("jax.jit@0.10.2")]
#[case("equinox.filter_jit@0.10.2")]
#[case("lax.while_loop")]
#[case("lax.scan")]
#[case("lax.fori_loop")]
#[case("lax.cond")]
#[case("lax.switch")]
#[case("lax.map")]
fn rule_model_and_target_agree(#[case] name: &str) {
    let target = target(name);
    let about = target.about().clone();
    let rules = campaign(&about.implementation, &about.version, 0, |_| true).generator.rules().len() as u64;
    let mut campaign = campaign(&about.implementation, &about.version, rules * PAIRS_A_RULE, |_| true);
    campaign.visible = about.layers;
    let (generator, unknown_flags) = campaign.generator.with_flags(&about.flags);
    (campaign.generator, campaign.unknown_flags) = (generator, unknown_flags);
    let summary = campaign.run(target, &|| unreachable!("there is one job"), &|_| {}).unwrap();
    let shown: Vec<_> = summary.findings.iter().map(|one| finding(1, one, None, Style::PLAIN)).collect();
    assert!(summary.conforms(), "{:?}\n{}", summary.failures, shown.join("\n"));
    assert!(summary.pairs() * 100 >= rules * PAIRS_A_RULE * 98, "{} pairs, {:?}", summary.pairs(), summary.unsupported);
}

/// What jaxlib can't flatten costs a thread some of its recursion limit, and one process runs thousands of such cases.
#[rstest]
#[case("jax.jit")]
#[case("jax.jit@0.6.2")]
fn failed_flattenings_do_not_add_up(#[case] name: &str) {
    let target = target(name);
    let about = target.about().clone();
    let unsortable = |rule: &jitkey::spec::Rule| rule.id == "pytree-structure/unsortable-keys";
    let mut campaign = campaign(&about.implementation, &about.version, 1_500, unsortable);
    campaign.generator = campaign.generator.tracing_only();
    campaign.visible = about.layers;
    let summary = campaign.run(target, &|| unreachable!("there is one job"), &|_| {}).unwrap();
    assert!(summary.conforms() && summary.pairs() > 1_000, "{:?}, {} pairs", summary.failures, summary.pairs());
}

/// XLA's programs are kept between cases. Where each is compiled, every call does what the model says as well.
#[test]
fn a_sample_is_compiled_for_real() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jitkey"))
        .args(["check", "jax.jit", "--pairs", "300", "--seed", "0x5eed"])
        .env("JITKEY_MEMO", "0")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && told.contains("300 pairs"),
        "{told}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[rstest]
#[case("jax.jit")]
#[case("equinox.filter_jit")]
#[case("jax.jit@0.6.2")]
#[case("equinox.filter_jit@0.6.2")]
#[case("jax.jit@0.4.30")]
#[case("equinox.filter_jit@0.4.30")]
#[case("lax.while_loop")]
#[case("lax.scan")]
fn the_written_cases(#[case] name: &str) {
    let mut target = target(name);
    let about = target.about().clone();
    let version: Version = about.version.parse().unwrap();
    let profile = SPEC.profile(&about.implementation, &version).unwrap();
    let files: Vec<_> = SPEC.cases.values().filter(|file| file.api == about.implementation).collect();
    assert!(files.len() >= 3);
    for file in files {
        // A case that says nothing of a version needs what the version doesn't have.
        let Some(outcome) = file.expect.as_ref().unwrap().at(&version) else { continue };
        let expected = outcome.completed(&behaviour(&file.case, profile).unwrap());
        let seen = target.observe(std::slice::from_ref(&file.case)).unwrap().remove(0);
        let judgement = judge(&file.case, &expected, profile, about.layers, &seen);
        assert!(matches!(judgement, Judgement::Holds(_)), "{}: {judgement:?}, {seen:?}", file.id);
    }
}
