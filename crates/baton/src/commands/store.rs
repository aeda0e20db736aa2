//! `baton store init`: a home on a shared server, made by those who may and used by those who need it.

use baton_engine::base::error::EngineError;
use baton_engine::settings::place::{SetupNames, setup_sql};
use serde_json::json;

use crate::cli::Common;
use crate::cli::store::{Init, StoreCommand};
use crate::fault::Fault;
use crate::office::{self, Office};
use crate::output;

/// What needs no store; none for what does.
pub fn look(common: &Common, command: &StoreCommand) -> Option<Result<String, Fault>> {
    let StoreCommand::Init(asked) = command;
    asked.print_sql.then(|| sql(common, asked))
}

fn sql(common: &Common, asked: &Init) -> Result<String, Fault> {
    let names = SetupNames {
        database: asked.database.clone(),
        owner: asked.owner.clone(),
        role: asked.role.clone(),
        namespace: office::find(common)?.0.shared_namespace(),
    };
    let sql = setup_sql(&names).map_err(EngineError::from)?;
    if common.json { output::json(&json!({ "sql": sql })) } else { Ok(sql) }
}

/// Opening it does the work: whoever may change the tables brings them up to date.
pub async fn run(common: &Common, _: StoreCommand) -> Result<String, Fault> {
    let office = Office::open(common).await?;
    let (store, namespace) = (office.place.store.plain(), office.place.namespace.clone());
    office.close().await?;
    if common.json {
        return output::json(&json!({ "store": store, "namespace": namespace }));
    }
    Ok(format!("The store {namespace} ({store}) is up to date.\n"))
}
