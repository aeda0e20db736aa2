//! What the work of agents cost, as the API tells it.

use baton_core::base::time::Timestamp;
pub(crate) use baton_engine::reports::costs::{CostReport, CostRow, CostSum};

use crate::context::api::Api;
use crate::error::CliError;

/// Everything that ended since then; without a moment, today.
pub(crate) async fn load_costs(api: &Api, since: Option<Timestamp>) -> Result<CostReport, CliError> {
    let query = since.map(|since| format!("?since={since}")).unwrap_or_default();
    api.get(&format!("/api/costs{query}")).await
}
