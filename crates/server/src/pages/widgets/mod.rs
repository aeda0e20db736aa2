//! Pieces of HTML and text that pages are made of. They take values and return markup; none reads the store.

pub(crate) mod ansi;
pub(crate) mod card;
pub(crate) mod drawing;
pub(crate) mod layers;
pub(crate) mod markdown;
pub(crate) mod percent;
pub(crate) mod row;
pub(crate) mod words;
