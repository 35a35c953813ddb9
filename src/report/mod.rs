//! What people and programs read: the outcome of a campaign as text and JSON, the spec as a rulebook, and a case as a
//! script that stands alone.

pub mod json;
pub mod rulebook;
pub mod script;
pub mod text;
