//! The real jax.jit, equinox.filter_jit and eager loops of jax.lax, in private environments that are set up on first use.
//!
//! These tests need Python 3 and, the first time, the network; without them they fail and say what is missing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use jitkey::check::{Judgement, judge};
use jitkey::model::behaviour;
use jitkey::report::text::{Style, finding};
use jitkey::target::{Limits, Target, TargetName, environment, open};
use rstest::rstest;

use super::common::{NEWEST, SPEC, campaign_at};

fn target(name: &str) -> Box<dyn Target> {
    let name: TargetName = name.parse().unwrap();
    let mut say = |line: &str| eprintln!("{line}");
    open(&SPEC, &name, None, Limits::default(), &mut say).unwrap_or_else(|error| panic!("{error}"))
}

/// With so many pairs of each rule; `jitkey check` draws ten thousand in all.
#[rstest]
#[case("jax.jit", 2)]
#[case("equinox.filter_jit", 2)]
#[case("flax.nnx.jit", 2)]
#[case("jax.jit@0.6.2", 1)]
#[case("equinox.filter_jit@0.6.2", 1)]
// Here statics are compared without their hashes, in tables that all cases share.
#[case("jax.jit@0.10.2", 1)]
#[case("equinox.filter_jit@0.10.2", 1)]
#[case("lax.while_loop", 2)]
#[case("lax.scan", 2)]
#[case("lax.fori_loop", 2)]
#[case("lax.cond", 2)]
#[case("lax.switch", 2)]
#[case("lax.map", 2)]
fn rule_model_and_target_agree(#[case] name: &str, #[case] pairs_a_rule: u64) {
    let target = target(name);
    let about = target.about().clone();
    let rules = campaign_at(&about.implementation, &about.runs().unwrap(), 0, |_| true).generator.rules().len() as u64;
    let mut campaign = campaign_at(&about.implementation, &about.runs().unwrap(), rules * pairs_a_rule, |_| true);
    campaign.visible = about.layers;
    let (generator, unknown_flags) = campaign.generator.with_flags(&about.flags);
    (campaign.generator, campaign.unknown_flags) = (generator, unknown_flags);
    let summary = campaign.run(target, &|| unreachable!("there is one job"), &|_| {}).unwrap();
    let shown: Vec<_> = summary.findings.iter().map(|one| finding(1, one, None, Style::PLAIN)).collect();
    assert!(summary.conforms(), "{:?}\n{}", summary.failures, shown.join("\n"));
    assert!(summary.pairs() * 100 >= rules * pairs_a_rule * 98, "{} pairs, {:?}", summary.pairs(), summary.unsupported);
}

/// What jaxlib can't flatten costs a thread some of its recursion limit, and one process runs thousands of such cases.
#[rstest]
#[case("jax.jit")]
#[case("jax.jit@0.6.2")]
fn failed_flattenings_do_not_add_up(#[case] name: &str) {
    let target = target(name);
    let about = target.about().clone();
    let unsortable = |rule: &jitkey::spec::Rule| rule.id == "pytree-structure/unsortable-keys";
    let mut campaign = campaign_at(&about.implementation, &about.runs().unwrap(), 1_500, unsortable);
    campaign.generator = campaign.generator.tracing_only();
    campaign.visible = about.layers;
    let summary = campaign.run(target, &|| unreachable!("there is one job"), &|_| {}).unwrap();
    assert!(summary.conforms() && summary.pairs() > 1_000, "{:?}, {} pairs", summary.failures, summary.pairs());
}

/// The Python can be asked for with the version, and is said where there is none.
#[test]
fn a_python_is_asked_for() {
    let python = target("jax.jit").about().about["python"].clone().unwrap();
    let series: Vec<_> = python.split('.').take(2).collect();
    let check = |python: &str| {
        let name = format!("jax.jit@{NEWEST}+python{python}");
        let all = ["check", &name, "--pairs", "20", "--rules", "static-hashing/nan-in-a-dataclass"];
        Command::new(env!("CARGO_BIN_EXE_jitkey")).args(all).env("JAX_PLATFORMS", "cpu").output().unwrap()
    };
    let ran = check(&series.join("."));
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && shown.contains(&format!("python {python},")), "{shown}");
    let refused = check("2.7");
    let shown = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(3) && shown.contains("and, as asked, 2.7, and this machine has"), "{shown}");
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
    // What a process has made once can't be undone in it, so that a pair or two may be left out.
    let pairs = told.split(" rules hold on ").nth(1).and_then(|it| it.split(' ').next()?.parse::<u64>().ok());
    assert!(
        output.status.success() && pairs.is_some_and(|pairs| pairs >= 298),
        "{told}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[rstest]
#[case("jax.jit")]
#[case("equinox.filter_jit")]
#[case("jax.jit@0.6.2")]
#[case("equinox.filter_jit@0.6.2")]
#[case("jax.jit@0.4.38")]
#[case("jax.jit@0.4.30")]
#[case("equinox.filter_jit@0.4.30")]
#[case("lax.while_loop")]
#[case("lax.scan")]
fn the_written_cases(#[case] name: &str) {
    let mut target = target(name);
    let about = target.about().clone();
    let version = about.runs().unwrap();
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

/// What the spec names as the source of a behaviour is there, in one of the versions that are run.
#[test]
fn the_sources_of_the_spec_exist() {
    let installed = |version: &str| {
        let module =
            environment::module("jitkey", "jax.jit", Some(version), None, &mut |line: &str| eprintln!("{line}"));
        let (words, _) = module.unwrap_or_else(|error| panic!("{error}"));
        let where_to = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
        let printed = Command::new(&words[0]).args(["-c", where_to]).output().unwrap().stdout;
        PathBuf::from(String::from_utf8(printed).unwrap().trim())
    };
    let roots: Vec<_> = [NEWEST, "0.10.2", "0.8.3", "0.6.2", "0.4.38", "0.4.30"].into_iter().map(installed).collect();
    let of_rules = SPEC.rules.values().map(|rule| (rule.id.clone(), &rule.sources));
    let of_profiles = SPEC.profiles.iter().map(|it| (format!("{} {}", it.profile, it.versions), &it.sources));
    let of_cases = SPEC.cases.values().map(|case| (case.id.clone(), &case.sources));
    let mut nowhere = Vec::new();
    for (whose, source) in
        of_rules.chain(of_profiles).chain(of_cases).flat_map(|(id, all)| all.iter().map(move |it| (id.clone(), it)))
    {
        // What isn't installed, tests and C++, can't be looked up here.
        let Some(file) = source.file.as_ref().filter(|file| file.starts_with(&format!("{}/", source.project))) else {
            continue;
        };
        let name = source.symbol.as_deref().and_then(|symbol| symbol.split('.').next_back());
        let is_word =
            |text: &str, name: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        let has = |root: &PathBuf| {
            fs::read_to_string(root.join(file)).is_ok_and(|text| name.is_none_or(|name| is_word(&text, name)))
        };
        if file.ends_with(".py") && !roots.iter().any(has) {
            nowhere.push((whose, file, &source.symbol));
        }
    }
    assert!(nowhere.is_empty(), "{nowhere:#?}");
}
