//! The rulebook: a page for each family, as `jitkey show FAMILY` prints it.

use jitkey::report::rulebook;

use super::common::SPEC;

#[test]
fn a_page_for_each_family() {
    for family in &SPEC.families {
        crate::snapshot!(format!("rulebook-{}", family.name), rulebook::family(&SPEC, &family.name).unwrap());
    }
}
