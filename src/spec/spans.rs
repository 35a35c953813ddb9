//! Where in a YAML text each node stands. The typed reading ([`serde_yaml`]) knows what is wrong and on which path; this
//! knows the line and column of a path.

use saphyr_parser::{Event, Marker, Parser, Span};

/// The lines of a text as YAML counts them: each of its line breaks ends one, a lone carriage return among them.
///
/// Source: `IS_BREAK` in libyaml, whose places [`serde_yaml`] tells.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) else {
            return std::mem::take(&mut rest);
        };
        let (line, behind) = text.split_at(end);
        let whole = if behind.starts_with("\r\n") { 2 } else { behind.chars().next().map_or(0, char::len_utf8) };
        rest = Some(&behind[whole..]);
        Some(line)
    })
}

/// A step from a node to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An entry of a map.
    Key(String),
    /// An element of a list.
    Index(usize),
}

/// The places of all nodes of a YAML document.
#[derive(Debug)]
pub struct Spans(Option<Node>);

#[derive(Debug)]
struct Node {
    at: (usize, usize),
    inside: Inside,
}

#[derive(Debug)]
enum Inside {
    Scalar(String),
    Seq(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

fn place(marker: Marker) -> (usize, usize) {
    (marker.line(), marker.col() + 1)
}

impl Spans {
    /// Reads the places of `text`; of a text that is no YAML none are known.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let events: Option<Vec<_>> = Parser::new_from_str(text).map(Result::ok).collect();
        let mut events = events.unwrap_or_default().into_iter();
        Self(node(&mut events).ok().flatten())
    }

    /// Line and column, both from 1, of the node at `path` or of the last on the way that exists.
    #[must_use]
    pub fn find(&self, path: &[Step]) -> (usize, usize) {
        let Some(mut node) = self.0.as_ref() else { return (1, 1) };
        let mut at = node.at;
        for step in path {
            let next = match (step, &node.inside) {
                (Step::Index(i), Inside::Seq(items)) => items.get(*i).map(|item| (item.at, item)),
                (Step::Key(key), Inside::Map(entries)) => entries
                    .iter()
                    .find(|(name, _)| matches!(&name.inside, Inside::Scalar(text) if text == key))
                    .map(|(name, value)| (name.at, value)),
                _ => None,
            };
            let Some((place, inside)) = next else { break };
            (at, node) = (place, inside);
        }
        at
    }
}

/// The next node, or `None` at the end of a collection; an error where the events end too early.
fn node<'t>(events: &mut impl Iterator<Item = (Event<'t>, Span)>) -> Result<Option<Node>, ()> {
    loop {
        let (event, span) = events.next().ok_or(())?;
        let inside = match event {
            Event::Scalar(text, ..) => Inside::Scalar(text.into_owned()),
            Event::Alias(_) => Inside::Scalar(String::new()),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some(item) = node(events)? {
                    items.push(item);
                }
                Inside::Seq(items)
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                while let Some(key) = node(events)? {
                    entries.push((key, node(events)?.ok_or(())?));
                }
                Inside::Map(entries)
            }
            Event::SequenceEnd | Event::MappingEnd | Event::DocumentEnd | Event::StreamEnd => return Ok(None),
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
        };
        return Ok(Some(Node { at: place(span.start), inside }));
    }
}
