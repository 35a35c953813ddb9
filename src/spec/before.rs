//! Profiles of several ranges of versions in one file: what is different before a version is written as edits, under
//! `before`, and holds for all that are older, too.

use serde_yaml::Value as Tree;

use super::{Profile, Requirement};

/// The profiles that `profile` stands for, with the trees that they are read from: itself, for the newest of its versions, and
/// one for the versions before each that `before` names.
///
/// # Errors
/// If there are no versions before one that is named, an edit changes nothing, or what it makes is no profile.
pub(super) fn by_version(profile: Profile, tree: Tree) -> Result<Vec<Profile>, String> {
    let mut whole = serde_json::to_value(&tree).map_err(|error| error.to_string())?;
    let (mut versions, mut all) = (profile.versions.clone(), Vec::new());
    let mut newer = Profile { tree, ..profile.clone() };
    for (bound, edits) in profile.before.iter().rev() {
        let before = Requirement::try_from(format!("<{bound}")).map_err(|error| error.to_string())?;
        let Some([older, since]) = versions.divided_by(&before) else {
            return Err(format!("none of the versions {versions} is before {bound}"));
        };
        for edit in edits {
            if edit.apply(&mut whole) == 0 {
                return Err(format!("before {bound}, nothing is changed at `{}`", edit.at));
            }
        }
        all.push(Profile { versions: since, ..newer });
        let tree = serde_yaml::to_value(&whole).map_err(|error| error.to_string())?;
        let older_one: Profile =
            serde_json::from_value(whole.clone()).map_err(|error| format!("before {bound}, {error}"))?;
        (newer, versions) = (Profile { tree, ..older_one }, older);
    }
    all.push(Profile { versions, ..newer });
    Ok(all)
}
