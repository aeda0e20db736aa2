//! `baton store`

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Create or upgrade the shared store; connect as the role that owns its tables
    #[command(
        after_help = "Examples:\n  baton store init --print-sql | psql -v ON_ERROR_STOP=1 postgres\n  baton store init \
                      --store postgres://baton_owner@db.example/baton"
    )]
    Init(StoreInitArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StoreInitArgs {
    /// Print the SQL that creates the database and its two roles; change nothing
    #[arg(long)]
    pub(crate) print_sql: bool,
    /// Name of the database in that SQL
    #[arg(long, value_name = "NAME", default_value = "baton", requires = "print_sql")]
    pub(crate) database: String,
    /// Role that owns and migrates the tables
    #[arg(long, value_name = "NAME", default_value = "baton_owner", requires = "print_sql")]
    pub(crate) owner: String,
    /// Role that Baton connects as
    #[arg(long, value_name = "NAME", default_value = "baton", requires = "print_sql")]
    pub(crate) role: String,
}
