//! Messages for the user while Baton runs.

use std::sync::Arc;

/// Shows one line to the user: the command line prints it, a server logs it.
pub type Announce = Arc<dyn Fn(&str) + Send + Sync>;
