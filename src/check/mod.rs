//! The checker: generate, predict, observe, compare, shrink.
//!
//! Three witnesses speak of each case: the rules, the reference model and the target. Where they differ, the checker says
//! who stands alone.

mod campaign;
mod compare;
mod finding;
mod hazard;
mod mutants;
mod summary;
mod sweep;

pub use campaign::{Campaign, Opener, Shard};
pub use compare::{Alone, Judgement, Testimony, judge};
pub use finding::Finding;
pub use hazard::Hazards;
pub use mutants::{Fate, Fates, Hunt, Kill, differs, hunt};
pub use summary::{Failure, FamilyCount, FirstDifference, RuleCount, Summary};
pub use sweep::{Line, Recorded, Row, Run, Settles, Sweep};
