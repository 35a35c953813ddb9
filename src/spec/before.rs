//! Profiles of several ranges of versions in one file: what is different before a version is written as edits, under
//! `before`, and holds for all that are older, too.

use serde::Deserialize as _;
use serde_yaml::Value as Tree;

use super::read::key;
use super::spans::Step;
use super::{Edit, Profile, Requirement, Version};

/// What is wrong with what was before a version, and where it stands in the profile.
#[derive(Debug)]
pub(super) struct Wrong {
    pub path: Vec<Step>,
    pub reason: String,
}

/// The profiles that `profile` stands for, with the trees that they are read from: itself, for the newest of its versions, and
/// one for the versions before each that `before` names.
///
/// # Errors
/// If there are no versions before one that is named, an edit changes nothing, or what it makes is no profile.
pub(super) fn by_version(profile: Profile, tree: Tree) -> Result<Vec<Profile>, Wrong> {
    let wrong = |bound: &Version, inside: Option<usize>, reason: String| {
        let path = [key("before"), key(&bound.to_string())].into_iter().chain(inside.map(Step::Index)).collect();
        Wrong { path, reason }
    };
    let mut whole =
        serde_json::to_value(&tree).map_err(|error| Wrong { path: Vec::new(), reason: error.to_string() })?;
    let (mut versions, mut all) = (profile.versions.clone(), Vec::new());
    let mut newer = Profile { tree, ..profile.clone() };
    for (bound, edits) in profile.before.iter().rev() {
        let before =
            Requirement::try_from(format!("<{bound}")).map_err(|error| wrong(bound, None, error.to_string()))?;
        let Some([older, since]) = versions.divided_by(&before) else {
            return Err(wrong(bound, None, format!("none of the versions {versions} is before {bound}")));
        };
        let mut so_far = whole.clone();
        for (i, edit) in edits.iter().enumerate() {
            if edit.apply(&mut whole) == 0 {
                return Err(wrong(bound, Some(i), format!("before {bound}, nothing is changed at `{}`", edit.at)));
            }
        }
        all.push(Profile { versions: since, ..newer });
        let older_one = Profile::deserialize(&whole).map_err(|error| {
            // What several do together may be a profile where what the first do is none.
            let error = error.to_string();
            let fails = |edit: &Edit| {
                edit.apply(&mut so_far);
                Profile::deserialize(&so_far).is_err_and(|earlier| earlier.to_string() == error)
            };
            wrong(bound, edits.iter().position(fails), format!("before {bound}, {error}"))
        })?;
        let tree = serde_yaml::to_value(&whole).map_err(|error| wrong(bound, None, error.to_string()))?;
        (newer, versions) = (Profile { tree, ..older_one }, older);
    }
    all.push(Profile { versions, ..newer });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::spec::{Profile, Spec};

    const PROFILE: &str = "
profile: lax.cond
versions: '>=0.5'
about: A profile.
arguments: {control_flow: [condition, body]}
positions: [dynamic]
leaves: [{kind: [jax_array], role: dynamic}]
unsortable_dict: ValueError
unsortable_default_dict: TypeError
unhashable: TypeError
errors: [flatten]
tables: [{table: trace, leaf: [shape, weak_type]}]
sources: [{project: jax, file: jax/_src/lax/control_flow/conditionals.py, symbol: cond}]
";

    fn by_version(before: &str) -> Result<Vec<Profile>, String> {
        let tree: serde_yaml::Value = serde_yaml::from_str(&format!("{PROFILE}before: {before}")).unwrap();
        let profile = serde_json::from_value(serde_json::to_value(&tree).unwrap()).unwrap();
        super::by_version(profile, tree).map_err(|wrong| wrong.reason)
    }

    #[test]
    fn what_was_before_adds_up() {
        let before = "{'0.6': [{at: unhashable, set: ValueError}], '0.8': [{at: tables/trace/leaf, remove: shape}]}";
        let profiles = by_version(before).unwrap();
        let said = |profile: &Profile| {
            (profile.versions.to_string(), profile.tables[0].leaf.len(), profile.unhashable.clone())
        };
        let expected = [(">=0.8", 2, "TypeError"), (">=0.6,<0.8", 1, "TypeError"), (">=0.5,<0.6", 1, "ValueError")];
        let expected: Vec<_> =
            expected.map(|(versions, leaf, class)| (versions.to_owned(), leaf, class.to_owned())).into();
        assert_eq!(profiles.iter().map(said).collect::<Vec<_>>(), expected);
    }

    #[rstest]
    #[case("{'0.4': [{at: unhashable, set: ValueError}]}", "none of the versions >=0.5 is before 0.4")]
    #[case("{'0.8': [{at: unhashable, set: TypeError}]}", "before 0.8, nothing is changed at `unhashable`")]
    #[case("{'0.8': [{at: unhashable, set: 3}]}", "before 0.8, invalid type: integer `3`, expected a string")]
    fn what_cannot_be_is_said(#[case] before: &str, #[case] expected: &str) {
        assert_eq!(by_version(before).unwrap_err(), expected);
    }

    #[test]
    fn the_spec_has_the_ranges() {
        let spec = Spec::embedded();
        let range = |version: &str| {
            let profile = spec.profile("lax.scan", &version.parse().unwrap()).unwrap();
            (profile.versions.to_string(), profile.forwards_unchanged)
        };
        assert!(!range("0.5.3").1 && range("0.6.2").1 && range("0.12.0.1").1);
        assert_ne!(range("0.6.2").0, range("0.8.3").0);
    }
}
