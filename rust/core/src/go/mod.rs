//! The order in which Go walks its maps, of which chance decides a part.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `draws` | what Go draws, from a seed |
//! | `map` | a map's keys, and one `range` over them |

pub(crate) mod draws;
pub(crate) mod map;
