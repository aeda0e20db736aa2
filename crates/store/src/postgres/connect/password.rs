//! Looks up a missing password as libpq does: `PGPASSWORD`, then the password file named by `passfile` or
//! `PGPASSFILE`, then `~/.pgpass`.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// A larger file is not a password file.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The default port.
const PORT: u16 = 5432;

/// Sets the password of `config` if it has none and one can be found.
pub(crate) fn find(
    config: &mut Config,
    named: Option<PathBuf>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    if config.get_password().is_some() {
        return Ok(());
    }
    if let Some(password) = variable("PGPASSWORD").filter(|password| !password.is_empty()) {
        config.password(password);
        return Ok(());
    }
    let named = named.or_else(|| variable("PGPASSFILE").map(PathBuf::from));
    let text = match (&named, variable("HOME")) {
        (Some(path), _) => Some(read(path)?),
        // A default file that cannot be used is ignored.
        (None, Some(home)) => read(&Path::new(&home).join(".pgpass")).ok(),
        (None, None) => None,
    };
    if let Some(password) = text.and_then(|text| entry(&text, &PasswordTarget::new(config))) {
        config.password(password);
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    let failed =
        |error: std::io::Error| format!("the password file {} cannot be read: {error}", path.display());
    let about: Metadata = std::fs::metadata(path).map_err(failed)?;
    if about.permissions().mode() & 0o077 != 0 {
        return Err(format!(
            "the password file {0} can be read by others, and is not used; chmod 600 {0}",
            path.display()
        ));
    }
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return Err(format!("{} is not a password file", path.display()));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// What a line of the file must match.
struct PasswordTarget {
    hosts: Vec<String>,
    port: String,
    database: String,
    user: String,
}

impl PasswordTarget {
    fn new(config: &Config) -> Self {
        let hosts = match config.get_hosts().first() {
            Some(Host::Tcp(name)) => vec![name.clone()],
            Some(Host::Unix(folder)) => vec![folder.display().to_string(), "localhost".to_owned()],
            None => vec!["localhost".to_owned()],
        };
        let user = config.get_user().unwrap_or_default().to_owned();
        let database = config.get_dbname().map_or_else(|| user.clone(), str::to_owned);
        let port = config.get_ports().first().copied().unwrap_or(PORT).to_string();
        Self { hosts, port, database, user }
    }

    fn is_met(&self, fields: &[String]) -> bool {
        let is = |field: &String, wanted: &str| field == "*" || field == wanted;
        match fields {
            [host, port, database, user, _] => {
                self.hosts.iter().any(|wanted| is(host, wanted))
                    && is(port, &self.port)
                    && is(database, &self.database)
                    && is(user, &self.user)
            }
            _ => false,
        }
    }
}

/// The password of the first matching line, `host:port:database:user:password`. Each of the first four fields may be
/// `*`; `\` escapes `:` and `\`.
fn entry(text: &str, wanted: &PasswordTarget) -> Option<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find(|fields| wanted.is_met(fields)).and_then(|mut fields| fields.pop())
}

/// The last field is the rest of the line: a password may contain colons.
fn fields(line: &str) -> Vec<String> {
    const COUNT: usize = 5;
    let mut fields = vec![String::new()];
    let mut is_escaped = false;
    for c in line.chars() {
        let is_last = fields.len() == COUNT;
        match (c, fields.last_mut()) {
            ('\\', _) if !is_escaped => {
                is_escaped = true;
                continue;
            }
            (':', _) if !is_escaped && !is_last => fields.push(String::new()),
            (c, Some(field)) => field.push(c),
            (_, None) => {}
        }
        is_escaped = false;
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(
        address: &str,
        named: Option<&Path>,
        variables: &[(&str, &str)],
    ) -> Result<Option<String>, String> {
        let mut config: Config = address.parse().unwrap();
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        find(&mut config, named.map(Path::to_owned), variable)?;
        Ok(config.get_password().map(|password| String::from_utf8(password.to_vec()).unwrap()))
    }

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_password_is_looked_up_in_order() {
        let kept = file("*:*:*:*:from-file\n", 0o600);
        let path = kept.path().to_str().unwrap();
        let both = [("PGPASSWORD", "from-variable"), ("PGPASSFILE", path)];
        assert_eq!(found("postgres://mia:own@db/work", None, &both).unwrap().as_deref(), Some("own"));
        assert_eq!(found("postgres://mia@db/work", None, &both).unwrap().as_deref(), Some("from-variable"));
        assert_eq!(found("postgres://mia@db/work", None, &both[1..]).unwrap().as_deref(), Some("from-file"));
        assert_eq!(
            found("postgres://mia@db/work", Some(kept.path()), &[]).unwrap().as_deref(),
            Some("from-file")
        );
        assert_eq!(found("postgres://mia@db/work", None, &[]).unwrap(), None);
    }

    #[test]
    fn a_line_applies_to_its_server_only() {
        let text = "# notes\nother:5432:work:mia:no\ndb:5432:work:noor:no\ndb:*:work:mia:a\\:b\\\\c:d\n*:*:*:*:last\n";
        let kept = file(text, 0o600);
        let password = |address| found(address, Some(kept.path()), &[]).unwrap().unwrap();
        assert_eq!(password("postgres://mia@db/work"), "a:b\\c:d");
        assert_eq!(password("postgres://mia@db/elsewhere"), "last");
        let socket = file("localhost:5432:mia:mia:here\n", 0o600);
        let of_socket = found("host=/run/postgresql user=mia", Some(socket.path()), &[]).unwrap();
        assert_eq!(of_socket.as_deref(), Some("here"));
    }

    #[test]
    fn a_named_file_that_others_can_read_is_refused() {
        let open = file("*:*:*:*:secret\n", 0o644);
        let told = found("postgres://mia@db/work", Some(open.path()), &[]).unwrap_err();
        assert!(told.contains("chmod 600") && !told.contains("secret"), "{told}");
        let told = found("postgres://mia@db/work", Some(Path::new("/nowhere/at/all")), &[]).unwrap_err();
        assert!(told.contains("cannot be read"), "{told}");
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".pgpass"), "*:*:*:*:secret\n").unwrap();
        fs::set_permissions(home.path().join(".pgpass"), fs::Permissions::from_mode(0o644)).unwrap();
        let variables = [("HOME", home.path().to_str().unwrap())];
        assert_eq!(found("postgres://mia@db/work", None, &variables).unwrap(), None);
    }
}
