//! What people and programs read: the outcome of a campaign as text and JSON, the outcomes of many as a matrix, and the
//! spec as a rulebook, a case as a script that stands alone, and why a program recompiled.

pub mod explain;
#[cfg(feature = "cli")]
pub mod html;
pub mod json;
pub mod law;
pub mod markdown;
pub mod matrix;
pub mod merge;
pub mod mutants;
pub mod profile;
pub mod reach;
pub mod rulebook;
pub mod script;
pub mod sweep;
pub mod text;

/// A word of a shell command, in quotes if it needs them.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn counted(count: usize, thing: &str) -> String {
    format!("{count} {}", plural(count, thing))
}

fn plural(count: usize, thing: &str) -> String {
    format!("{thing}{}", if count == 1 { "" } else { "s" })
}
