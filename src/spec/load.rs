//! Reads the files of a spec.
//!
//! A file is read typed, part by part, and an error in one part says nothing of the others.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use include_dir::{Dir, include_dir};
use indexmap::IndexMap;
use serde_yaml::Value as Tree;

use super::before::{Wrong, by_version};
use super::fingerprint::Fingerprint;
use super::follow::{is_group, overlaid};
use super::python::Older;
use super::read::{Errors, Origin, Reader, key, with_suggestion};
use super::spans::{Spans, Step};
use super::{
    CaseFile, Cause, Causes, Contexts, Diagnostics, Family, Flags, Habit, Mutant, Mutants, Profile, Pythons, Rule,
    RuleFile, Unseen, Version,
};

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/spec");

/// A text of the spec with its name, such as `rules/weak_type.yaml`.
#[derive(Debug, Clone)]
pub struct SpecFile {
    /// The name, relative to the spec's root, with `/`.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The specification.
#[derive(Debug)]
pub struct Spec {
    /// The families, in the order of their files' names.
    pub families: Vec<Family>,
    /// The rules, by id.
    pub rules: IndexMap<String, Rule>,
    /// The profiles, on the newest Python.
    pub profiles: Vec<Profile>,
    /// What older Pythons decide otherwise: those before each version, the oldest first.
    older_pythons: Older,
    /// Each profile on each of the older Pythons, made when it is asked for.
    on_older: Vec<OnceLock<Profile>>,
    /// What may stand around a planted pair.
    pub contexts: Contexts,
    /// The written cases, by id.
    pub cases: IndexMap<String, CaseFile>,
    /// The defects that the suite has to find.
    pub mutants: Vec<Mutant>,
    /// Entries of profiles that no pair shows.
    pub unseen: Vec<Unseen>,
    /// What differences mean, the particular before the general.
    pub causes: Vec<Cause>,
    /// What several calls of one function show together.
    pub habits: Vec<Habit>,
    /// What tells it from any other spec: a hash of all that decides pairs and verdicts, and of no prose.
    pub fingerprint: String,
}

impl Spec {
    /// The spec that came with this program.
    ///
    /// # Panics
    /// If it is broken, which the tests exclude.
    #[must_use]
    pub fn embedded() -> Self {
        match Self::from_files(Self::embedded_files()) {
            Ok(spec) => spec,
            Err(diagnostics) => panic!("the embedded spec is broken:\n{diagnostics}"),
        }
    }

    /// The files of the spec that came with this program.
    #[must_use]
    pub fn embedded_files() -> Vec<SpecFile> {
        let mut files = Vec::new();
        collect_embedded(&EMBEDDED, &mut files);
        files
    }

    /// The spec in a folder.
    pub fn from_folder(folder: &Path) -> Result<Self, SpecError> {
        let mut files = Vec::new();
        collect_folder(folder, "", &mut files)
            .map_err(|error| SpecError::Unreadable(folder.display().to_string(), error.to_string()))?;
        Ok(Self::from_files(files)?)
    }

    /// The spec that these files make.
    pub fn from_files(mut files: Vec<SpecFile>) -> Result<Self, Diagnostics> {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let mut loader = Loader::default();
        let (mut contexts, mut flags, mut python, mut mutants, mut causes) = (None, None, None, None, None);
        let mut fingerprint = Fingerprint::default();
        let mut profiles = Vec::new();
        for file in &files {
            let reader = Reader::new(file);
            // No report depends on these two.
            if file.name == "mutants.yaml" {
                mutants = loader.errors.read::<Mutants>(&reader, &[], &reader.tree);
                continue;
            }
            if file.name == "causes.yaml" {
                causes = loader.errors.read::<Causes>(&reader, &[], &reader.tree).map(|causes| (reader, causes));
                continue;
            }
            fingerprint.add(&file.name, &reader.tree);
            match file.name.split_once('/') {
                Some(("rules", _)) => loader.rules(reader),
                Some(("profiles", _)) => profiles.push(reader),
                Some(("cases", _)) => loader.cases(reader),
                _ if file.name == "contexts.yaml" => {
                    contexts = Some(loader.errors.read::<Contexts>(&reader, &[], &reader.tree))
                }
                _ if file.name == "flags.yaml" => {
                    flags = Some(loader.errors.read::<Flags>(&reader, &[], &reader.tree))
                }
                _ if file.name == "python.yaml" => {
                    python = Some(loader.errors.read::<Pythons>(&reader, &[], &reader.tree).map(|it| (reader, it)))
                }
                _ => loader.errors.at(
                    &reader,
                    &[],
                    None,
                    "a spec has `rules/`, `profiles/`, `cases/`, `contexts.yaml`, `flags.yaml`, `python.yaml`, `causes.yaml` and `mutants.yaml`, and this file is none of them"
                        .into(),
                    None,
                ),
            }
        }
        loader.profiles(&profiles);
        let contexts = contexts.unwrap_or_else(|| loader.is_missing("contexts.yaml"));
        let flags = flags.unwrap_or_else(|| loader.is_missing("flags.yaml"));
        let python = python.unwrap_or_else(|| loader.is_missing("python.yaml"));
        if let Some(contexts) = &contexts {
            loader.check(contexts);
        }
        loader.flags(&flags.unwrap_or_default());
        let older_pythons = python.map_or_else(Vec::new, |(reader, pythons)| loader.pythons(&reader, pythons));
        if let Some((reader, causes)) = &causes {
            loader.causes(reader, causes);
        }
        let Mutants { mutants, unseen, .. } = mutants.unwrap_or_default();
        let Causes { causes, patterns: habits, .. } = causes.map(|(_, causes)| causes).unwrap_or_default();
        match (contexts, loader.errors.0.is_empty()) {
            (Some(contexts), true) => Ok(Self {
                families: loader.families,
                rules: loader.rules.into_iter().map(|(id, (rule, _))| (id, rule)).collect(),
                on_older: vec![OnceLock::new(); loader.profiles.len() * older_pythons.len()],
                older_pythons,
                profiles: loader.profiles.into_iter().map(|(profile, _)| profile).collect(),
                contexts,
                cases: loader.cases.into_iter().map(|(id, (case, _))| (id, case)).collect(),
                mutants,
                unseen,
                causes,
                habits,
                fingerprint: fingerprint.to_string(),
            }),
            _ => {
                loader.errors.0.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
                // What follows a profile is read once for each of those it follows.
                loader.errors.0.dedup();
                Err(Diagnostics(loader.errors.0))
            }
        }
    }

    /// The profile of `implementation` at `version`, on the Python of that.
    #[must_use]
    pub fn profile(&self, implementation: &str, version: &Version) -> Option<&Profile> {
        let is_it = |it: &Profile| it.profile == implementation && it.versions.matches(version);
        let i = self.profiles.iter().position(is_it)?;
        let older = self.older_pythons.iter().position(|(bound, _)| version.python().is_some_and(|it| it < bound));
        Some(older.map_or(&self.profiles[i], |older| {
            self.on_older[i * self.older_pythons.len() + older].get_or_init(|| {
                let python = Arc::clone(&self.older_pythons[older].1);
                Profile { python, ..self.profiles[i].clone() }
            })
        }))
    }

    /// The profile of the newest versions of `implementation`.
    #[must_use]
    pub fn newest_profile(&self, implementation: &str) -> Option<&Profile> {
        let of_it = self.profiles.iter().filter(|profile| profile.profile == implementation);
        of_it.max_by(|a, b| a.versions.lowest().cmp(&b.versions.lowest()))
    }

    /// The profile at that version, or the newest if none is asked for.
    #[must_use]
    pub fn profile_or_newest(&self, implementation: &str, version: Option<&Version>) -> Option<&Profile> {
        match version {
            Some(version) => self.profile(implementation, version),
            None => self.newest_profile(implementation),
        }
    }

    /// The versions of an implementation that have a profile, for a reader.
    #[must_use]
    pub fn versions_of(&self, implementation: &str) -> String {
        let of_it = self.profiles.iter().filter(|profile| profile.profile == implementation);
        of_it.map(|profile| profile.versions.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// The names of the implementations that have a profile.
    #[must_use]
    pub fn implementations(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.profiles.iter().map(|profile| profile.profile.as_str()).collect();
        names.dedup();
        names
    }
}

/// Why there is no spec.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The folder or a file in it can't be read.
    #[error("{0}: {1}")]
    Unreadable(String, String),
    /// The files have errors.
    #[error(transparent)]
    Broken(#[from] Diagnostics),
}

fn collect_embedded(dir: &Dir<'_>, files: &mut Vec<SpecFile>) {
    for file in dir.files() {
        let name =
            file.path().components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        if let Some(text) = file.contents_utf8()
            && name.ends_with(".yaml")
        {
            files.push(SpecFile { name, text: text.to_owned() });
        }
    }
    dir.dirs().for_each(|dir| collect_embedded(dir, files));
}

fn collect_folder(folder: &Path, prefix: &str, files: &mut Vec<SpecFile>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect_folder(&entry.path(), &format!("{name}/"), files)?;
        } else if name.ends_with(".yaml") {
            files.push(SpecFile { text: std::fs::read_to_string(entry.path())?, name });
        }
    }
    Ok(())
}

/// What has been read so far.
#[derive(Default)]
pub(super) struct Loader {
    pub errors: Errors,
    families: Vec<Family>,
    pub rules: IndexMap<String, (Rule, Origin)>,
    pub duplicates: Vec<(Rule, Origin)>,
    pub profiles: Vec<(Profile, Origin)>,
    /// The implementations that profiles name, those among them that can't be read.
    pub implementations: Vec<String>,
    pub cases: IndexMap<String, (CaseFile, Origin)>,
}

impl Loader {
    /// The rules that causes and patterns name have to be there, and the causes that patterns name.
    fn causes(&mut self, reader: &Reader<'_>, Causes { causes, patterns, .. }: &Causes) {
        for (i, cause) in causes.iter().enumerate() {
            self.rule_of_a_cause(reader, ("causes", i), &cause.id, &cause.rule);
        }
        for (i, habit) in patterns.iter().enumerate() {
            habit.rule.iter().for_each(|rule| self.rule_of_a_cause(reader, ("patterns", i), &habit.id, rule));
            for (j, name) in habit.causes.iter().enumerate() {
                if !causes.iter().any(|cause| cause.id == *name) {
                    let path = [key("patterns"), Step::Index(i), key("causes"), Step::Index(j)];
                    self.errors.at(reader, &path, Some(&habit.id), format!("there is no cause `{name}`"), None);
                }
            }
        }
    }

    fn rule_of_a_cause(&mut self, reader: &Reader<'_>, (list, i): (&str, usize), id: &str, rule: &str) {
        if !self.rules.contains_key(rule) {
            let path = [key(list), Step::Index(i), key("rule")];
            self.errors.at(reader, &path, Some(id), format!("there is no rule `{rule}`"), None);
        }
    }

    fn rules(&mut self, reader: Reader<'_>) {
        // The rules are read one by one, so that an error in one says nothing of the others.
        let mut head = reader.tree.clone();
        let rules = match head.get_mut("rules") {
            Some(Tree::Sequence(rules)) => std::mem::take(rules),
            _ => Vec::new(),
        };
        let Some(file) = self.errors.read::<RuleFile>(&reader, &[], &head) else { return };
        for (i, tree) in rules.iter().enumerate() {
            let path = vec![key("rules"), Step::Index(i)];
            let Some(rule) = self.errors.read::<Rule>(&reader, &path, tree) else { continue };
            if rule.family() != file.family || !rule.id.contains('/') {
                let mut at = path.clone();
                at.push(key("id"));
                self.errors.at(
                    &reader,
                    &at,
                    Some(&rule.id),
                    format!("the id of a rule of this file begins with its family, `{}/`", file.family),
                    Some(format!("write `{}/{}`", file.family, rule.id.rsplit('/').next().unwrap_or_default())),
                );
            }
            let origin = Origin { file: reader.file.clone(), path };
            if let Some((_, first)) = self.rules.get(&rule.id) {
                let (line, _) = Spans::of(&first.file.text).find(&first.path);
                let reason =
                    format!("there is a rule `{}` already, in spec/{} at line {line}", rule.id, first.file.name);
                self.errors.at_origin(
                    &origin,
                    &[key("id")],
                    &rule.id,
                    reason,
                    Some("ids are unique and never reused: choose another".into()),
                );
                self.duplicates.push((rule, origin));
            } else {
                self.rules.insert(rule.id.clone(), (rule, origin));
            }
        }
        self.families.push(Family { name: file.family, about: file.about });
    }

    /// Says that a file of the spec isn't there.
    fn is_missing<T>(&mut self, name: &str) -> Option<T> {
        let missing = SpecFile { name: name.into(), text: String::new() };
        self.errors.at(&Reader::new(&missing), &[], None, "the file is missing".into(), None);
        None
    }

    fn profiles(&mut self, readers: &[Reader<'_>]) {
        for reader in readers {
            let name = reader.tree.get("profile").and_then(Tree::as_str).map(str::to_owned);
            if name.as_deref().is_some_and(is_group) {
                continue;
            }
            self.implementations.extend(name.filter(|name| !self.implementations.contains(name)));
            for whole in overlaid(reader, readers) {
                let Some(profile) = self.errors.read_from::<Profile>(&|path| whole.says(path), &whole.tree) else {
                    continue;
                };
                match by_version(profile, whole.tree.clone()) {
                    Ok(profiles) => {
                        let origin = Origin { file: reader.file.clone(), path: Vec::new() };
                        self.profiles.extend(profiles.into_iter().map(|one| (one, origin.clone())));
                    }
                    Err(wrong) => {
                        let (reader, place) = whole.says(&wrong.path);
                        let (reason, help) = with_suggestion(wrong.reason);
                        self.errors.at(reader, &place, None, reason, help);
                    }
                }
            }
        }
        for (i, (profile, origin)) in self.profiles.iter().enumerate() {
            let of_it = self.profiles[..i].iter().filter(|(earlier, _)| earlier.profile == profile.profile);
            let has = |one: &Profile, other: &Profile| {
                let version = other.versions.lowest();
                one.versions == other.versions || one.versions.matches(&version) && other.versions.matches(&version)
            };
            if let Some((earlier, _)) =
                of_it.clone().find(|(earlier, _)| has(earlier, profile) || has(profile, earlier))
            {
                let reason =
                    format!("{} {} has a profile already, of {}", profile.profile, profile.versions, earlier.versions);
                self.errors.at_origin(origin, &[key("profile")], "", reason, None);
            }
        }
    }

    /// Gives each profile the flags as they are at its versions; one whose versions have different flags becomes several.
    fn flags(&mut self, flags: &Flags) {
        let defaults = flags.defaults.iter().map(|default| &default.versions);
        for versions in flags.groups.iter().map(|group| &group.versions).chain(defaults) {
            for i in (0..self.profiles.len()).rev() {
                let Some(halves) = self.profiles[i].0.versions.divided_by(versions) else { continue };
                let (profile, origin) = self.profiles[i].clone();
                let half = |versions| (Profile { versions, ..profile.clone() }, origin.clone());
                self.profiles.splice(i..=i, halves.map(half));
            }
        }
        for (profile, _) in &mut self.profiles {
            let version = profile.versions.lowest();
            profile.flags = flags.at(&version);
            profile.flag_defaults = flags.defaults_at(&version);
        }
    }

    /// Gives each profile what the newest Python decides; what older ones do.
    fn pythons(&mut self, reader: &Reader<'_>, pythons: Pythons) -> Older {
        let older = pythons.older(reader.tree.get("now").unwrap_or(&Tree::Null));
        let now = Arc::new(pythons.now);
        self.profiles.iter_mut().for_each(|(profile, _)| profile.python = Arc::clone(&now));
        older.unwrap_or_else(|Wrong { path, reason }| {
            self.errors.at(reader, &path, None, reason, None);
            Vec::new()
        })
    }

    fn cases(&mut self, reader: Reader<'_>) {
        let items = match &reader.tree {
            Tree::Sequence(items) if reader.syntax.is_none() => items.clone(),
            _ => {
                self.errors.read::<Vec<CaseFile>>(&reader, &[], &reader.tree);
                return;
            }
        };
        for (i, tree) in items.iter().enumerate() {
            let path = vec![Step::Index(i)];
            let Some(case) = self.errors.read::<CaseFile>(&reader, &path, tree) else { continue };
            let origin = Origin { file: reader.file.clone(), path };
            if case.id.is_empty() || case.says.is_empty() || case.expect.is_none() {
                let reason = "a case of the spec has an `id`, says what it shows, and what is expected".to_owned();
                self.errors.at_origin(&origin, &[], &case.id, reason, Some("give `id`, `says` and `expect`".into()));
            }
            if let Err(error) = case.case.validate() {
                self.errors.at_origin(&origin, &[key("case")], &case.id, error.to_string(), None);
            }
            if let Some((_, first)) = self.cases.get(&case.id) {
                let reason = format!("there is a case `{}` already, in spec/{}", case.id, first.file.name);
                self.errors.at_origin(&origin, &[key("id")], &case.id, reason, None);
            } else {
                self.cases.insert(case.id.clone(), (case, origin));
            }
        }
    }
}

/// The ids by which somebody asks for rules: a glob matches whole ids, and a family's name all of its rules.
#[must_use]
pub fn glob(pattern: &str) -> Option<globset::GlobMatcher> {
    let pattern = if pattern.contains(['/', '*']) { pattern.to_owned() } else { format!("{pattern}/*") };
    globset::Glob::new(&pattern).ok().map(|glob| glob.compile_matcher())
}
