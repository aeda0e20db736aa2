//! The long explanation of an error code, for `baton explain` and the book.
//!
//! Each error type has its table of codes beside it, written with [`explained!`](crate::explained). The rows are both
//! the arms of a `match` and the entries of the catalogue, so a new error case does not compile until it is
//! explained, and no code is shown that the catalogue lacks.

use serde::Serialize;

/// One error code and its explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The code shown to people; programs branch on it.
    pub code: &'static str,
    pub means: &'static str,
    /// What led to it.
    pub cause: &'static str,
    /// What to do next. Commands are in backticks.
    pub next: &'static str,
}

/// Implements `EXPLAINED` (every code of the type) and `explained` (the code of one value). Cases that wrap another
/// type's error go behind `else` and use that type's explanation.
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
