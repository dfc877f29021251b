//! Which PostgreSQL the tests use, and a schema of its own for each of them.

use std::env;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use nimbus_inbox_postgres::tokio_postgres::{Client, Config, NoTls};
use nimbus_inbox_postgres::{PostgresConnection, PostgresInbox, PostgresInboxOptions};
use nimbus_inbox_testing::Namespace;

/// The address of a server for tests, with a database in which they may create schemas, roles and
/// databases.
const ADDRESS: &str = "NIMBUS_POSTGRES_URL";

/// Where a server listens that nobody named, and who may log in there without a password.
const STANDARD: [&str; 2] = [
    "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable",
    "postgres://root@127.0.0.1:5432/postgres?sslmode=disable",
];

const PATIENCE: Duration = Duration::from_secs(3);

/// The server's address, or why there is none.
pub(crate) fn find() -> Result<&'static str, String> {
    static FOUND: OnceLock<Result<String, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| match env::var(ADDRESS) {
        Ok(named) => try_out(&named)
            .map(|()| named)
            .map_err(|reason| format!("postgres: {ADDRESS} names no server to test on: {reason}")),
        Err(_) => {
            let standard = STANDARD.iter().find(|address| try_out(address).is_ok());
            standard.map(ToString::to_string).ok_or_else(|| {
                format!("postgres: no server on port 5432 lets anybody in; set {ADDRESS}")
            })
        }
    });
    found.as_ref().map(String::as_str).map_err(Clone::clone)
}

/// The address, in a test that is listed only where there is one.
pub(crate) fn address() -> &'static str {
    find().expect("tests are listed as ignored without a server")
}

/// The same server, with another database, user or setting.
pub(crate) fn config() -> Config {
    address().parse().expect("it was tried out")
}

/// Where it listens, for a proxy before it.
pub(crate) fn socket() -> SocketAddr {
    let config = config();
    let Some(nimbus_inbox_postgres::tokio_postgres::config::Host::Tcp(host)) =
        config.get_hosts().first()
    else {
        panic!("tests reach the server by TCP");
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let mut found = (host.as_str(), port).to_socket_addrs().expect("a name");
    found.next().expect("an address")
}

fn try_out(address: &str) -> Result<(), String> {
    let config: Config = address.parse().map_err(|_| "it can't be read".to_owned())?;
    let mut config = config;
    config.connect_timeout(PATIENCE);
    apart(async move {
        connect_to(&config)
            .await
            .map(drop)
            .map_err(|told| told.to_string())
    })
}

/// Runs something on a thread and a runtime of its own, for code that can't wait otherwise.
fn apart<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let done = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(work)
    });
    done.join().expect("no panic")
}

async fn connect_to(
    config: &Config,
) -> Result<Client, nimbus_inbox_postgres::tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// The address of the server at that place, with another database if one is given.
pub(crate) fn at(place: SocketAddr, database: Option<&str>) -> String {
    let config = config();
    let user = config.get_user().unwrap_or("postgres");
    let database = database.or(config.get_dbname()).unwrap_or(user);
    let mut address = format!("host={} port={} ", place.ip(), place.port());
    if let Some(password) = config.get_password() {
        let password = String::from_utf8_lossy(password).replace('\\', "\\\\");
        address += &format!("password='{}' ", password.replace('\'', "\\'"));
    }
    address + &format!("user={user} dbname={database} sslmode=disable")
}

/// An address whose sessions begin with these settings.
pub(crate) fn with_settings(address: &str, settings: &str) -> String {
    let separator = if address.contains('?') { '&' } else { '?' };
    let settings = settings.replace(' ', "%20").replace('=', "%3D");
    format!("{address}{separator}options={settings}")
}

/// A connection of somebody else.
pub(crate) async fn stranger() -> Client {
    connect_to(&config()).await.expect("the server is there")
}

/// Somebody else with other settings.
pub(crate) async fn stranger_with(config: &Config) -> Client {
    connect_to(config).await.expect("the server is there")
}

/// A schema that is dropped with the last handle to it.
#[derive(Clone)]
pub(crate) struct Schema(Arc<Dropped>);

struct Dropped(String);

impl Schema {
    pub(crate) fn of(namespace: &Namespace) -> Self {
        let name = namespace.name().to_owned();
        namespace.shared(|| Self(Arc::new(Dropped(name))))
    }

    pub(crate) fn unique() -> Self {
        Self::of(&Namespace::unique())
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.0
    }

    /// The address of the server through a proxy before it, under the schema's name.
    pub(crate) fn through(&self, proxy: SocketAddr) -> String {
        format!("{} application_name={}", at(proxy, None), self.name())
    }

    /// Its table, as it stands in SQL.
    pub(crate) fn table(&self) -> String {
        format!("{}.inbox_messages", self.name())
    }

    pub(crate) fn options(&self) -> PostgresInboxOptions {
        let options = PostgresInboxOptions::default().with_schema(self.name());
        options.expect("namespaces have usable names")
    }

    pub(crate) async fn open(&self) -> PostgresInbox {
        self.open_with(self.options()).await
    }

    pub(crate) async fn open_with(&self, options: PostgresInboxOptions) -> PostgresInbox {
        self.open_at(address(), options).await
    }

    /// An inbox whose sessions begin with these settings, such as `-c role=app`, and bear the
    /// name of the schema.
    pub(crate) async fn open_set(
        &self,
        settings: &str,
        options: PostgresInboxOptions,
    ) -> PostgresInbox {
        self.open_at(&with_settings(address(), settings), options)
            .await
    }

    pub(crate) async fn open_at(
        &self,
        address: &str,
        options: PostgresInboxOptions,
    ) -> PostgresInbox {
        let connection = PostgresConnection::parse(address).expect("an address");
        PostgresInbox::open_with(connection, options)
            .await
            .expect("nothing is connected yet")
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        // A statement that a test left behind may still run. Roles and databases have the name of
        // their schema.
        let name = self.0.clone();
        apart(async move {
            let client = stranger().await;
            for text in [
                "set lock_timeout = '10s'".to_owned(),
                format!("drop schema if exists \"{name}\" cascade"),
                format!("drop role if exists \"{name}\""),
                // Its connections may still be closing.
                format!("drop database if exists \"{name}\" with (force)"),
            ] {
                if let Err(told) = client.batch_execute(&text).await {
                    eprintln!("{name} is left behind: {told:?}");
                }
            }
        });
    }
}
