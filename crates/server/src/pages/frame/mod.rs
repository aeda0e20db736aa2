//! What all pages share: layout, navigation, responses, forms, path parameters and static assets.
//!
//! Nothing here is about one page; what draws one thing (a card, a graph) is in `widgets`.

pub(crate) mod assets;
pub(crate) mod form;
pub(crate) mod guide;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod navigation;
pub(crate) mod request;
pub(crate) mod response;
