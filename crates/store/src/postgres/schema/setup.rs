//! SQL that prepares a PostgreSQL server: a database, a schema, and two roles with the least privileges that suffice.
//!
//! One role owns the tables and migrates them; the other only reads and writes rows. A person reads the script and
//! runs it with psql: Baton itself never has the privileges it needs.

use crate::error::StoreError;
use crate::postgres::connect::connector::schema_name;

/// Names used in the script.
#[derive(Debug, Clone)]
pub struct SetupNames {
    pub database: String,
    /// The role that owns the tables.
    pub owner: String,
    /// The role that reads and writes rows.
    pub role: String,
    pub namespace: String,
}

/// PostgreSQL's limit.
const NAME_LEN_MAX: usize = 63;

/// A script for psql. Idempotent.
pub fn setup_sql(names: &SetupNames) -> Result<String, StoreError> {
    let schema = schema_name(&names.namespace)?;
    for name in [&names.database, &names.owner, &names.role] {
        check(name)?;
    }
    let SetupNames { database, owner, role, .. } = names;
    if owner == role {
        let detail = format!(
            "{owner} cannot be both the owner of the tables and the role that uses them; name two roles"
        );
        return Err(StoreError::Backend { doing: "generating the SQL", detail });
    }
    Ok(format!(
        r#"-- Baton on PostgreSQL: a database, a schema and two roles with the least privileges they need.
-- Run once, as a role that may create roles and databases:
--
--     baton store init --print-sql | psql -v ON_ERROR_STOP=1 postgres
--
-- Running it again changes nothing. Then give both roles a password (\password {role}) or a line in pg_hba.conf, and
-- create the tables as the owner. Repeat that whenever a newer Baton asks for a migration:
--
--     baton store init --store postgres://{owner}@HOST/{database}
--
-- Daily use: baton up --store postgres://{role}@HOST/{database}

-- Owns and migrates the tables.
SELECT 'CREATE ROLE "{owner}" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS'
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{owner}') \gexec
-- Reads and writes rows only.
SELECT 'CREATE ROLE "{role}" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS'
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') \gexec

SELECT 'CREATE DATABASE "{database}"'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{database}') \gexec
REVOKE ALL ON DATABASE "{database}" FROM PUBLIC;
GRANT CONNECT ON DATABASE "{database}" TO "{owner}", "{role}";

\connect "{database}"
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA IF NOT EXISTS "{schema}" AUTHORIZATION "{owner}";
GRANT USAGE ON SCHEMA "{schema}" TO "{role}";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}" TO "{role}";
ALTER DEFAULT PRIVILEGES FOR ROLE "{owner}" IN SCHEMA "{schema}"
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "{role}";
-- From PostgreSQL 17 on this role may also vacuum small tables; before that, autovacuum does it.
SELECT 'ALTER DEFAULT PRIVILEGES FOR ROLE "{owner}" IN SCHEMA "{schema}" GRANT MAINTAIN ON TABLES TO "{role}"'
    WHERE current_setting('server_version_num')::int >= 170000 \gexec
"#
    ))
}

/// Plain names only: they are used in SQL, in URLs and in a shell.
fn check(name: &str) -> Result<(), StoreError> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if starts_well && name.len() <= NAME_LEN_MAX && name.bytes().all(is_plain) {
        return Ok(());
    }
    let detail = format!(
        "{name:?} is not a valid name; use lower-case letters, digits and _, starting with a letter, at most {NAME_LEN_MAX}"
    );
    Err(StoreError::Backend { doing: "generating the SQL", detail })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(database: &str, owner: &str, role: &str) -> SetupNames {
        let text = str::to_owned;
        SetupNames { database: text(database), owner: text(owner), role: text(role), namespace: text("team") }
    }

    #[test]
    fn names_that_need_quoting_are_refused() {
        assert!(setup_sql(&names("work", "work_owner", "work")).unwrap().contains("\"baton_team\""));
        for bad in ["", "Work", "a-b", "a\"; DROP TABLE x; --", "7up", "ä", &"x".repeat(64)] {
            assert!(setup_sql(&names(bad, "o", "r")).is_err(), "{bad}");
            assert!(setup_sql(&names("d", bad, "r")).is_err(), "{bad}");
            assert!(setup_sql(&names("d", "o", bad)).is_err(), "{bad}");
        }
        assert!(setup_sql(&names("d", "same", "same")).is_err());
    }
}
