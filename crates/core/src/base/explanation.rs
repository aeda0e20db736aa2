//! What an error code means, for a person who met one and wants to know more than a line can say.
//!
//! The table of a type's codes stands beside the type and is written with [`explained!`](crate::explained): its rows are
//! at once the arms of a `match` and the entries of the catalogue. So a new case of an error does not compile until it is
//! explained, and no code can be shown that the catalogue does not have. Nothing is decided here.

use serde::Serialize;

/// One code, explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The word that is shown, and that programs branch on.
    pub code: &'static str,
    pub means: &'static str,
    /// What led to it.
    pub cause: &'static str,
    /// What to do; commands are in backticks.
    pub next: &'static str,
}

/// Gives a type `EXPLAINED`, all its codes, and `explained`, the one of a value. Cases that hand on what another type
/// refused stand behind `else`: that type explains them.
#[macro_export]
macro_rules! explained {
    ($kind:ty {
        $($case:pat => $row:expr),* $(,)?
    } $(else {
        $($within:pat => $inner:expr),* $(,)?
    })?) => {
        impl $kind {
            pub const EXPLAINED: &'static [$crate::base::explanation::Explanation] = &[$($row),*];

            pub const fn explained(&self) -> &'static $crate::base::explanation::Explanation {
                match self {
                    $($case => &$row,)*
                    $($($within => $inner,)*)?
                }
            }
        }
    };
}
