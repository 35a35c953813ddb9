//! What people and programs read: the outcome of a campaign as text and JSON, and the spec as a rulebook.

pub mod json;
pub mod rulebook;
pub mod text;
