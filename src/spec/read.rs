//! Reads a tree as a type, and says where and why it isn't one.
//!
//! Where an entry is wrong, the error is kept, the entry is taken out and the reading starts again, so that one run reports
//! every error.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;
use serde_path_to_error::{Deserializer as PathDeserializer, Segment, Track};
use serde_yaml::Value as Tree;

use super::spans::{Spans, Step, lines};
use super::{Diagnostic, SpecFile};

/// A file, read as far as a tree.
pub(super) struct Reader<'f> {
    pub file: &'f SpecFile,
    pub tree: Tree,
    /// The folder that the file is said to be in.
    folder: &'static str,
    /// How many lines stand before those of the text.
    before: usize,
    /// Looked for once something is wrong.
    spans: OnceCell<Spans>,
    pub syntax: Option<serde_yaml::Error>,
}

impl<'f> Reader<'f> {
    pub fn new(file: &'f SpecFile) -> Self {
        let (tree, syntax) = match serde_yaml::from_str(&file.text) {
            Ok(tree) => (tree, None),
            Err(error) => (Tree::Null, Some(error)),
        };
        Self { file, tree, folder: "spec/", before: 0, spans: OnceCell::new(), syntax }
    }

    /// The same of a file that is none of the spec's, or of what comes after so many of its lines.
    pub fn of_another(file: &'f SpecFile, before: usize) -> Self {
        Self { folder: "", before, ..Self::new(file) }
    }
}

/// Where a thing was defined.
#[derive(Clone)]
pub(super) struct Origin {
    pub file: SpecFile,
    pub path: Vec<Step>,
}

/// The errors so far.
#[derive(Default)]
pub(super) struct Errors(pub Vec<Diagnostic>);

impl Errors {
    pub fn at(
        &mut self,
        reader: &Reader<'_>,
        path: &[Step],
        subject: Option<&str>,
        reason: String,
        help: Option<String>,
    ) {
        let (line, column) = match reader.syntax.as_ref().and_then(serde_yaml::Error::location) {
            Some(location) => (location.line(), location.column()),
            None => reader.spans.get_or_init(|| Spans::of(&reader.file.text)).find(path),
        };
        self.0.push(Diagnostic {
            file: format!("{}{}", reader.folder, reader.file.name),
            line: reader.before + line,
            column,
            subject: subject.map(str::to_owned),
            reason,
            suggestion: help,
            excerpt: lines(&reader.file.text).nth(line - 1).unwrap_or_default().to_owned(),
        });
    }

    pub fn at_origin(&mut self, origin: &Origin, inside: &[Step], subject: &str, reason: String, help: Option<String>) {
        let reader = Reader::new(&origin.file);
        let path: Vec<_> = origin.path.iter().chain(inside).cloned().collect();
        self.at(&reader, &path, Some(subject), reason, help);
    }

    /// Reads `tree`, which stands at `path`. On an error the entry that is wrong is taken out and the reading starts
    /// again, until nothing more can be found.
    pub fn read<T: DeserializeOwned>(&mut self, reader: &Reader<'_>, path: &[Step], tree: &Tree) -> Option<T> {
        if let Some(syntax) = &reader.syntax {
            let reason = syntax.to_string();
            let (reason, help) = match reason.split_once("invalid type: integer ") {
                Some(_) => {
                    ("an integer that is too large".to_owned(), "one of more than 64 bits is written `{int: \"…\"}`")
                }
                None => (
                    format!("this is not YAML: {reason}"),
                    "check the indentation, and quote texts that hold `: `, `#`, `{` or `[`",
                ),
            };
            self.at(reader, path, None, reason, Some(help.into()));
            return None;
        }
        let subject = tree.get("id").and_then(Tree::as_str).map(str::to_owned);
        let mut tree = tree.clone();
        let mut clean = true;
        let mut emptied = None;
        loop {
            let mut track = Track::new();
            let outcome =
                serde_yaml::with::singleton_map_recursive::deserialize(PathDeserializer::new(&tree, &mut track));
            let error: serde_yaml::Error = match outcome {
                Ok(value) if clean => return Some(value),
                Ok(_) => return None,
                Err(error) => error,
            };
            clean = false;
            let reason = error.to_string();
            let mut inside: Vec<Step> = track.path().iter().filter_map(step).collect();
            // What is left of a map whose every entry was taken out is no second mistake.
            if emptied.take().is_some_and(|emptied| emptied == inside) && take_out(&mut tree, &inside) {
                emptied = emptied_by(&mut tree, inside);
                continue;
            }
            let unknown = unknown_name(&reason);
            if let Some((name, _)) = &unknown
                && inside.last() != Some(&Step::Key(name.clone()))
            {
                inside.push(Step::Key(name.clone()));
            }
            let full: Vec<_> = path.iter().chain(&inside).cloned().collect();
            let near = unknown.as_ref().and_then(|(name, known)| nearest(name, known.iter().map(String::as_str)));
            let (reason, help) = with_suggestion(reason);
            self.at(reader, &full, subject.as_deref(), reason, help);
            // What was meant is read as such, so that its absence is no second error.
            if near.is_some_and(|near| rename(&mut tree, &inside, near)) {
                continue;
            }
            if !take_out(&mut tree, &inside) {
                return None;
            }
            emptied = emptied_by(&mut tree, inside);
        }
    }
}

pub(super) fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}

/// The unknown name and the known ones, if that is what the error says.
fn unknown_name(reason: &str) -> Option<(String, Vec<String>)> {
    if !reason.contains("unknown field") && !reason.contains("unknown variant") {
        return None;
    }
    let mut names = reason.split('`').skip(1).step_by(2).map(str::to_owned);
    let unknown = names.next()?;
    Some((unknown, names.collect()))
}

/// The known name that `name` is most like, if it is much like it.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let likeness = |other: &str| strsim::jaro_winkler(name, other);
    let near = known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(near) > 0.75).then_some(near)
}

pub(super) fn suggestion(name: &str, known: &[String]) -> Option<String> {
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if known.is_empty() => None,
        None => {
            Some(format!("known here: {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")))
        }
    }
}

/// The error, and what to do; the names that are known stand in one of the two.
pub(super) fn with_suggestion(mut reason: String) -> (String, Option<String>) {
    let help = unknown_name(&reason).and_then(|(name, known)| suggestion(&name, &known));
    if let (Some(_), Some(end)) = (&help, reason.find(", expected ")) {
        reason.truncate(end);
    }
    (reason, help)
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { variant } => Some(Step::Key(variant.clone())),
        Segment::Unknown => None,
    }
}

/// Gives the entry at `path` another key; false if there is one of that name already, or none to rename.
fn rename(tree: &mut Tree, path: &[Step], name: &str) -> bool {
    let Some((Step::Key(old), way)) = path.split_last() else { return false };
    match node_at(tree, way) {
        Some(Tree::Mapping(map)) if !map.contains_key(name) => match map.remove(old.as_str()) {
            Some(value) => map.insert(Tree::String(name.to_owned()), value).is_none(),
            None => false,
        },
        _ => false,
    }
}

fn node_at<'t>(tree: &'t mut Tree, way: &[Step]) -> Option<&'t mut Tree> {
    way.iter().try_fold(tree, |node, step| match (step, node) {
        (Step::Key(key), Tree::Mapping(map)) => map.get_mut(key.as_str()),
        (Step::Index(i), Tree::Sequence(items)) => items.get_mut(*i),
        _ => None,
    })
}

/// The way to the map that `path` leads through last, if nothing is left in that.
fn emptied_by(tree: &mut Tree, mut path: Vec<Step>) -> Option<Vec<Step>> {
    path.pop();
    let is_empty = matches!(node_at(tree, &path), Some(Tree::Mapping(map)) if map.is_empty());
    is_empty.then_some(path)
}

/// Takes the node at `path` out of `tree`; false if there is none.
fn take_out(tree: &mut Tree, path: &[Step]) -> bool {
    let Some((last, way)) = path.split_last() else { return false };
    let Some(node) = node_at(tree, way) else { return false };
    match (last, node) {
        (Step::Key(key), Tree::Mapping(map)) => map.remove(key.as_str()).is_some(),
        (Step::Index(i), Tree::Sequence(items)) if *i < items.len() => {
            items.remove(*i);
            true
        }
        _ => false,
    }
}
