//! `baton store init`: creates or upgrades the shared store.

use baton_engine::base::error::EngineError;
use baton_engine::settings::location::{SetupNames, setup_sql};
use serde_json::json;

use crate::cli::store::{StoreCommand, StoreInitArgs};
use crate::context::{self, CliContext};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

pub(crate) async fn run(options: &GlobalOptions, command: StoreCommand) -> Result<String, CliError> {
    match command {
        StoreCommand::Init(arguments) if arguments.print_sql => sql(options, &arguments),
        StoreCommand::Init(_) => init(options).await,
    }
}

fn sql(options: &GlobalOptions, args: &StoreInitArgs) -> Result<String, CliError> {
    let names = SetupNames {
        database: args.database.clone(),
        owner: args.owner.clone(),
        role: args.role.clone(),
        namespace: context::find(options)?.0.schema_name(),
    };
    let sql = setup_sql(&names).map_err(EngineError::from)?;
    if options.json { output::json(&json!({ "sql": sql })) } else { Ok(sql) }
}

/// Opening the store creates its tables or upgrades them.
async fn init(options: &GlobalOptions) -> Result<String, CliError> {
    let context = CliContext::open(options).await?;
    let (store, namespace) = (context.place.store.without_credentials(), context.place.namespace.clone());
    context.close().await?;
    if options.json {
        return output::json(&json!({ "store": store, "namespace": namespace }));
    }
    Ok(format!("Store {namespace} ({store}) is up to date.\n"))
}
