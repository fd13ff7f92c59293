//! The order in which Go walks its maps, which depends partly on chance.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `draws` | Go's random choices, from a seed |
//! | `map` | a map's keys, and one `range` over them |

pub(crate) mod draws;
pub(crate) mod map;
