//! Lines for the person at the terminal while work goes on.

use std::sync::Arc;

/// Shows one line to the person. The command line prints it; a server logs it.
pub type Announce = Arc<dyn Fn(&str) + Send + Sync>;
