//! What is wrong with a file of the spec, for somebody who has never seen the code.

use std::fmt;

/// One error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, relative to the spec's root.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The rule, profile or case that it is in, if it got as far.
    pub subject: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub suggestion: Option<String>,
    /// The line itself.
    pub excerpt: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", shown(&self.reason))?;
        write!(f, "  --> {}:{}:{}", self.file, self.line, self.column)?;
        if let Some(subject) = &self.subject {
            write!(f, " ({subject})")?;
        }
        let number = self.line.to_string();
        let (excerpt, column) = self.around();
        writeln!(f, "\n{number} | {excerpt}")?;
        write!(f, "{:width$}^", "", width = number.len() + 2 + column)?;
        if let Some(suggestion) = &self.suggestion {
            write!(f, "\n  help: {suggestion}")?;
        }
        Ok(())
    }
}

impl Diagnostic {
    /// What stands around the column, of a line that is too long to be read, and which column of that it is.
    fn around(&self) -> (String, usize) {
        const BEFORE: usize = 60;
        const LONG: usize = 160;
        let line = shown(&self.excerpt);
        let length = line.chars().count();
        if length <= LONG {
            return (line, self.column);
        }
        let begin = self.column.saturating_sub(BEFORE);
        let end = begin + LONG;
        let part: String = line.chars().skip(begin).take(LONG).collect();
        let (left, right) = (if begin > 0 { "…" } else { "" }, if end < length { "…" } else { "" });
        (format!("{left}{part}{right}"), self.column - begin + usize::from(begin > 0))
    }
}

/// Without what a terminal would take for a command.
fn shown(text: &str) -> String {
    let one = |c: char| match c {
        '\n' => c,
        '\t' => ' ',
        _ if c.is_control() => char::REPLACEMENT_CHARACTER,
        _ => c,
    };
    text.chars().map(one).collect()
}

/// Everything that is wrong with a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.0 {
            writeln!(f, "{diagnostic}\n")?;
        }
        let files: std::collections::BTreeSet<_> = self.0.iter().map(|diagnostic| &diagnostic.file).collect();
        write!(f, "{} in {}", counted(self.0.len(), "error"), counted(files.len(), "file"))
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl std::error::Error for Diagnostics {}
