//! `baton store`, as people type it.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Make the shared store ready, or bring it up to date; as the role that owns its tables
    #[command(
        after_help = "Examples:\n  baton store init --print-sql | psql -v ON_ERROR_STOP=1 postgres\n  baton store init \
                      --store postgres://baton_owner@db.example/baton"
    )]
    Init(StoreInitArgs),
}

#[derive(Debug, Args)]
pub struct StoreInitArgs {
    /// Print the SQL that makes the database and its two roles, and change nothing
    #[arg(long)]
    pub print_sql: bool,
    /// What that SQL calls the database
    #[arg(long, value_name = "NAME", default_value = "baton", requires = "print_sql")]
    pub database: String,
    /// The role that owns the tables and changes them
    #[arg(long, value_name = "NAME", default_value = "baton_owner", requires = "print_sql")]
    pub owner: String,
    /// The role that works with them every day
    #[arg(long, value_name = "NAME", default_value = "baton", requires = "print_sql")]
    pub role: String,
}
