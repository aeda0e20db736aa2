//! TLS to a real server, with a CA made here: only that one is trusted, and every refusal says why.

use std::path::PathBuf;

use baton_store::{Backend, PostgresOptions, PostgresStore, StoreError};
use tokio::net::TcpSocket;

use crate::postgres::{fresh_namespace, run};
use crate::server::{Server, missing};

/// A server on TCP with a certificate for `localhost`, and its authentication rules.
const WHO_MAY: &str = "local all all trust\nhostssl all carded all cert\nhostssl all all all trust\n";

struct Encrypted {
    server: Server,
    port: u16,
    _reserved: TcpSocket,
}

impl Encrypted {
    fn new(name: &str) -> Self {
        let server = Server::created(name).unwrap();
        for authority in ["ours", "others"] {
            certificate(&server, authority, &["-addext", "basicConstraints=critical,CA:TRUE"]);
        }
        let signed = ["-CA", "ours.crt", "-CAkey", "ours.key", "-addext", "basicConstraints=CA:FALSE"];
        certificate(&server, "server", &[&signed[..], &["-addext", "subjectAltName=DNS:localhost"]].concat());
        certificate(&server, "carded", &signed);
        // Bound, but not listening: nobody else gets this port, and a server that asks for it does.
        let reserved = TcpSocket::new_v4().unwrap();
        reserved.set_reuseaddr(true).unwrap();
        reserved.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = reserved.local_addr().unwrap().port();
        server.write("data/pg_hba.conf", WHO_MAY);
        server.set(&format!(
            "listen_addresses = 'localhost'\nport = {port}\nssl = on\nssl_cert_file = '{0}/server.crt'\n\
             ssl_key_file = '{0}/server.key'\nssl_ca_file = '{0}/ours.crt'\n",
            server.folder().display()
        ));
        server.start_as_set();
        Self { server, port, _reserved: reserved }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.server.folder().join(name)
    }

    async fn open(&self, host: &str, query: &str) -> Result<PostgresStore, StoreError> {
        let query = query.replace("{folder}", &self.server.folder().display().to_string());
        let url = format!("postgres://baton@{host}:{}/postgres?{query}", self.port);
        PostgresStore::open(&PostgresOptions::new(url, fresh_namespace())).await
    }

    async fn refused(&self, host: &str, query: &str) -> String {
        match self.open(host, query).await {
            Ok(_) => panic!("{host} {query} was let in"),
            Err(error) => error.to_string(),
        }
    }

    /// Connects as the server's owner over its socket.
    async fn owner(&self) -> tokio_postgres::Client {
        let address = format!("{} port={}", self.server.address(), self.port);
        let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// How many of Baton's connections are encrypted, and how many are not.
    async fn lines(&self) -> (i64, i64) {
        let client = self.owner().await;
        let sql = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl)
            FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'baton'";
        let row = client.query_one(sql, &[]).await.unwrap();
        (row.get(0), row.get(1))
    }
}

/// `NAME.key` and `NAME.crt`, valid for a day.
fn certificate(server: &Server, name: &str, more: &[&str]) {
    let (key, out, subject) = (format!("{name}.key"), format!("{name}.crt"), format!("/CN={name}"));
    let fixed = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
        "-keyout",
        &key,
        "-out",
        &out,
        "-subj",
        &subject,
    ];
    server.run_in_folder("openssl", &[&fixed[..], more].concat());
}

#[test]
fn only_the_given_ca_is_trusted() {
    if let Some(reason) = missing() {
        println!("SKIPPED: {reason}");
        return;
    }
    run(async {
        let place = Encrypted::new("tls");
        for (host, query) in [
            ("localhost", "sslmode=verify-full&sslrootcert={folder}/ours.crt"),
            ("127.0.0.1", "sslmode=verify-ca&sslrootcert={folder}/ours.crt"),
            ("127.0.0.1", "sslmode=require"),
            ("127.0.0.1", ""),
        ] {
            let store =
                place.open(host, query).await.unwrap_or_else(|error| panic!("{host} {query}: {error}"));
            store.now().await.unwrap();
            let (encrypted, plain) = place.lines().await;
            assert!(encrypted > 0 && plain == 0, "{host} {query}: {encrypted} and {plain}");
            store.close().await.unwrap();
        }

        let told = place.refused("localhost", "sslmode=verify-full&sslrootcert={folder}/others.crt").await;
        assert!(told.contains("is not signed by the CA in") && told.contains("others.crt"), "{told}");
        let told = place.refused("localhost", "sslmode=require&sslrootcert={folder}/others.crt").await;
        assert!(told.contains("is not signed by"), "an authority that is named is asked: {told}");
        let told = place.refused("127.0.0.1", "sslmode=verify-full&sslrootcert={folder}/ours.crt").await;
        assert!(told.contains("the certificate of 127.0.0.1 is for another name"), "{told}");
        let told = place.refused("localhost", "sslmode=verify-full").await;
        assert!(told.contains("add sslrootcert=FILE"), "{told}");
        let told = place.refused("localhost", "sslmode=verify-ca&sslrootcert={folder}/nowhere.crt").await;
        assert!(told.contains("nowhere.crt cannot be read"), "{told}");
        // The server refuses unencrypted connections and says so.
        let told = place.refused("127.0.0.1", "sslmode=disable").await;
        assert!(told.contains("no encryption"), "{told}");

        a_client_shows_a_certificate(&place).await;

        place.server.set("ssl = off\n");
        place.server.write("data/pg_hba.conf", "local all all trust\nhost all all all trust\n");
        place.server.restart_as_set();
        let told = place.refused("127.0.0.1", "sslmode=require").await;
        assert!(told.contains("127.0.0.1 does not offer TLS"), "{told}");
        place.open("127.0.0.1", "").await.unwrap().close().await.unwrap();
    });
}

async fn a_client_shows_a_certificate(place: &Encrypted) {
    let copies = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let text = place.server.read(name);
        let path = copies.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (certificate, key) = (copy("carded.crt"), copy("carded.key"));
    let open = || {
        let (certificate, key) = (certificate.display(), key.display());
        let url = format!(
            "host=localhost port={} user=carded dbname=postgres sslmode=verify-full sslrootcert='{}' sslcert={certificate} sslkey={key}",
            place.port,
            place.file("ours.crt").display()
        );
        let options = PostgresOptions::new(url, fresh_namespace());
        async move { PostgresStore::open(&options).await }
    };
    place.owner().await.batch_execute("CREATE ROLE carded LOGIN SUPERUSER").await.unwrap();
    set_mode(&key, 0o644);
    let told = open().await.map(drop).unwrap_err().to_string();
    assert!(told.contains("is readable by others"), "{told}");
    set_mode(&key, 0o600);
    let store = open().await.unwrap();
    store.now().await.unwrap();
    store.close().await.unwrap();
    let url = format!("postgres://carded@localhost:{}/postgres?sslmode=require", place.port);
    let told = PostgresStore::open(&PostgresOptions::new(url, fresh_namespace())).await.map(drop);
    let told = told.unwrap_err().to_string();
    assert!(told.contains("certificate"), "{told}");
}

fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
