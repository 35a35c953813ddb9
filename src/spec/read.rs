//! Reads a tree as a type, and says where and why it isn't one.
//!
//! Where an entry is wrong, the error is kept, the entry is taken out and the reading starts again, so that one run reports
//! every error.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt::Write as _;

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
    places: OnceCell<(Spans, Vec<&'f str>)>,
    pub syntax: Option<Syntax>,
}

/// Why a text can't be read as a tree, what to do, and line and column if they are known.
pub(super) struct Syntax {
    reason: String,
    help: Option<String>,
    at: Option<(usize, usize)>,
}

impl<'f> Reader<'f> {
    pub fn new(file: &'f SpecFile) -> Self {
        let text = text_of(file);
        let read = serde_yaml::from_str(text).or_else(|error| match with_joined_surrogates(text) {
            Some(joined) => serde_yaml::from_str(&joined),
            None => Err(error),
        });
        let (tree, syntax) = match (repeated_anchor(text), read) {
            (None, Ok(tree)) => (tree, None),
            (Some(repeated), Ok(_)) => (Tree::Null, Some(repeated)),
            (_, Err(error)) => (Tree::Null, Some(of_syntax(&error))),
        };
        Self { file, tree, folder: "spec/", before: 0, places: OnceCell::new(), syntax }
    }

    /// The same of a file that is none of the spec's, or of what comes after so many of its lines.
    pub fn of_another(file: &'f SpecFile, before: usize) -> Self {
        Self { folder: "", before, ..Self::new(file) }
    }

    /// Line and column of what stands at `path`, or of what is no YAML.
    fn place(&self, path: &[Step]) -> (usize, usize) {
        let (spans, lines) = self.places();
        let Some(at) = self.syntax.as_ref().and_then(|syntax| syntax.at) else {
            return spans.find(path);
        };
        // What is missing at the end is missing on the last line on which there is something.
        match lines.iter().rposition(|line| !line.trim().is_empty()) {
            Some(last) if at.0 > last + 1 => (last + 1, lines[last].chars().count() + 1),
            _ => at,
        }
    }

    fn places(&self) -> &(Spans, Vec<&'f str>) {
        self.places.get_or_init(|| {
            let text = text_of(self.file);
            (Spans::of(text), lines(text).collect())
        })
    }
}

/// Without the mark that some editors put before it.
fn text_of(file: &SpecFile) -> &str {
    file.text.strip_prefix('\u{feff}').unwrap_or(&file.text)
}

/// The text with YAML's escape for each character that JSON writes as a pair of surrogates, if there is any.
fn with_joined_surrogates(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut joined, mut rest) = (String::new(), 0);
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        match unit(at).zip(unit(at + 6)).map(|(high, low)| char::decode_utf16([high, low]).next()) {
            Some(Some(Ok(c))) if u32::from(c) > 0xffff => {
                let _ = write!(joined, "{}\\U{:08X}", &text[rest..at], u32::from(c));
                rest = at + 12;
                at = rest;
            }
            // What is escaped is no beginning.
            _ => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    (rest > 0).then(|| joined + &text[rest..])
}

/// An anchor that the text defines again. YAML allows it, but the reader takes the aliases that follow for others'.
fn repeated_anchor(text: &str) -> Option<Syntax> {
    let mut known = HashSet::new();
    for (i, line) in lines(text).enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
        for (at, _) in line.match_indices('&') {
            let before = &line[..at];
            let is_quoted = ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1);
            let is_begun = !is_quoted && (before.is_empty() || before.ends_with([' ', '[']));
            let name = line[at + 1..].split([' ', ',', ']', '}']).next().unwrap_or_default();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
            if is_begun && is_name && !known.insert(name) {
                let reason = format!("the anchor `&{name}` is there already");
                let help = Some("give each anchor of a file a name of its own".to_owned());
                return Some(Syntax { reason, help, at: Some((i + 1, line[..at].chars().count() + 1)) });
            }
        }
    }
    None
}

/// What is wrong with a text that can't be read as a tree, and what to do.
fn of_syntax(error: &serde_yaml::Error) -> Syntax {
    let at = error.location().map(|location| (location.line(), location.column()));
    let (reason, help) = of_reader(error);
    Syntax { reason, help, at }
}

/// The same without its place.
fn of_reader(error: &serde_yaml::Error) -> (String, Option<String>) {
    let mut reason = error.to_string();
    while let Some(begin) = reason.find(" at line ") {
        let is_of_place = |c: char| c.is_ascii_digit() || " column".contains(c);
        let rest = &reason[begin + " at line ".len()..];
        let end = reason.len() - rest.trim_start_matches(is_of_place).len();
        reason.replace_range(begin..end, "");
    }
    if reason.contains("invalid type: integer `") && reason.ends_with("expected any YAML value") {
        let help = "in a value, one of more than 64 bits is written `{int: \"…\"}`";
        return ("an integer that doesn't fit into 64 bits".to_owned(), Some(help.to_owned()));
    }
    let of_form =
        ["did not find", "could not find", "not allowed", "found character", "while parsing", "while scanning"];
    if !of_form.iter().any(|sign| reason.contains(sign)) {
        return (reason, None);
    }
    let help = "check the indentation, and quote texts that hold `: `, `#`, `{` or `[`";
    (format!("this is not YAML: {reason}"), Some(help.to_owned()))
}

/// Where a thing was defined.
#[derive(Clone)]
pub(super) struct Origin {
    pub file: SpecFile,
    pub path: Vec<Step>,
}

/// The file that says what stands at a path in a tree, and the path in that file.
pub(super) type Says<'s, 'r, 'f> = dyn Fn(&[Step]) -> (&'r Reader<'f>, Vec<Step>) + 's;

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
        let (line, column) = reader.place(path);
        self.0.push(Diagnostic {
            file: format!("{}{}", reader.folder, reader.file.name),
            line: reader.before + line,
            column,
            subject: subject.map(str::to_owned),
            reason,
            suggestion: help,
            excerpt: reader.places().1.get(line - 1).copied().unwrap_or_default().to_owned(),
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
        self.read_from(&|inside| (reader, path.iter().chain(inside).cloned().collect()), tree)
    }

    /// The same of a tree that stands in any files.
    pub fn read_from<'r, 'f, T: DeserializeOwned>(&mut self, says: &Says<'_, 'r, 'f>, tree: &Tree) -> Option<T> {
        let (reader, path) = says(&[]);
        if let Some(Syntax { reason, help, .. }) = &reader.syntax {
            self.at(reader, &path, None, reason.clone(), help.clone());
            return None;
        }
        let subject = tree.get("id").and_then(Tree::as_str).map(str::to_owned);
        let mut tree = tree.clone();
        let mut edits: Vec<Edit> = Vec::new();
        for found in 0..ERRORS {
            let mut track = Track::new();
            let outcome =
                serde_yaml::with::singleton_map_recursive::deserialize(PathDeserializer::new(&tree, &mut track));
            let error: serde_yaml::Error = match outcome {
                Ok(value) if found == 0 => return Some(value),
                Ok(_) => return None,
                Err(error) => error,
            };
            let reason = error.to_string();
            let mut inside: Vec<Step> = track.path().iter().filter_map(step).collect();
            let unknown = unknown_name(&reason);
            if let Some((name, _)) = &unknown
                && inside.last() != Some(&Step::Key(name.clone()))
            {
                inside.push(Step::Key(name.clone()));
            }
            let follows = follows_from(&edits, &mut tree, &inside, &reason);
            if !follows {
                let (reader, place) = says(&as_written(&edits, inside.clone()));
                let (reason, help) = with_suggestion(reason);
                self.at(reader, &place, subject.as_deref(), reason, help);
            }
            let near = unknown.as_ref().and_then(|(name, known)| nearest(name, known.iter().map(String::as_str)));
            // What was meant is read as such, so that its absence is no second error.
            if let Some(near) = near.filter(|near| rename(&mut tree, &inside, near)) {
                edits.push(Edit { path: inside, renamed: Some(near.to_owned()) });
            } else if take_out(&mut tree, &inside) {
                edits.push(Edit { path: inside, renamed: None });
            } else {
                return None;
            }
        }
        None
    }
}

/// After so many errors in one thing the rest of it isn't looked at.
const ERRORS: usize = 50;

/// An entry that was taken out, or renamed, so that the reading can go on.
struct Edit {
    /// Where it stood.
    path: Vec<Step>,
    /// The name that it has now.
    renamed: Option<String>,
}

/// The way in the text to what `path` leads to after these edits.
fn as_written(edits: &[Edit], mut path: Vec<Step>) -> Vec<Step> {
    for Edit { path: edited, renamed } in edits.iter().rev() {
        let Some((last, way)) = edited.split_last().filter(|(_, way)| path.starts_with(way)) else { continue };
        match (path.get_mut(way.len()), last, renamed) {
            (Some(Step::Index(at)), Step::Index(out), _) if *at >= *out => *at += 1,
            (Some(Step::Key(name)), Step::Key(old), Some(new)) if name == new => name.clone_from(old),
            _ => {}
        }
    }
    path
}

/// Whether what is wrong at `path` is so for the edits alone: nothing is left of a map, or what is missing was taken out.
fn follows_from(edits: &[Edit], tree: &mut Tree, path: &[Step], reason: &str) -> bool {
    let taken = || edits.iter().filter(|edit| edit.renamed.is_none()).map(|edit| &edit.path);
    let is_empty = matches!(node_at(tree, path), Some(Tree::Mapping(map)) if map.is_empty());
    let missing = reason.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    let missing = missing.map(|name| path.iter().cloned().chain([key(name)]).collect::<Vec<_>>());
    is_empty && taken().any(|out| out.len() == path.len() + 1 && out.starts_with(path))
        || missing.is_some_and(|missing| taken().any(|out| *out == missing))
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
