//! The endpoints that the tool was given, and the ways to them.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use nimbus_inbox_core::Inbox;
use nimbus_messaging::{Address, ManagerClient, SessionDirectory, Transport};
use nimbus_resolver::{ResolverSettings, ResolverStore};
use nimbus_subscriber::Configuration;

use crate::arguments::PlaceArguments;
use crate::failure::Failure;
use crate::providers::{Missing, providers};

/// Names the files where none is given on the command line.
const VARIABLE: &str = "NIMBUS_CONFIG";

/// The section of the resolver.
pub(crate) const RESOLVER: &str = "resolver";

/// The endpoints that a command works on.
pub(crate) struct Place {
    endpoints: Vec<Endpoint>,
}

/// One endpoint.
pub(crate) struct Endpoint {
    configuration: Configuration,
}

impl Place {
    /// Reads the configurations. Nothing is opened before it is needed.
    pub(crate) fn load(arguments: &PlaceArguments, missing: Missing) -> Result<Self, Failure> {
        let files = files(arguments);
        if files.is_empty() {
            return Err(Failure::usage(format!(
                "no configuration is given: name the file of an endpoint with --config, or in the \
                 variable {VARIABLE}"
            )));
        }
        let providers = providers(missing);
        let mut endpoints = Vec::new();
        for file in files {
            let configuration = Configuration::load(&file, &providers)?;
            endpoints.push(Endpoint { configuration });
        }
        if let Some(name) = &arguments.endpoint {
            let known = names(&endpoints);
            endpoints.retain(|endpoint| endpoint.is_called(name));
            if endpoints.is_empty() {
                return Err(Failure::usage(format!(
                    "no configuration is of endpoint {name:?}; those given are of {known}"
                )));
            }
        }
        Ok(Self { endpoints })
    }

    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The one that is meant where only one can be.
    pub(crate) fn only(&self) -> Result<&Endpoint, Failure> {
        match &self.endpoints[..] {
            [endpoint] => Ok(endpoint),
            several => Err(Failure::usage(format!(
                "several endpoints are configured; choose one with --endpoint: {}",
                names(several)
            ))),
        }
    }

    /// The endpoint of that name.
    pub(crate) fn endpoint(&self, name: &str) -> Result<&Endpoint, Failure> {
        let mut endpoints = self.endpoints.iter();
        endpoints.find(|it| it.is_called(name)).ok_or_else(|| {
            Failure::usage(format!(
                "no configuration is of endpoint {name:?}; those given are of {}",
                names(&self.endpoints)
            ))
        })
    }

    /// The resolver's database, which all endpoints have to share.
    pub(crate) async fn resolver(&self) -> Result<ResolverStore, Failure> {
        let mut databases = Vec::new();
        for endpoint in &self.endpoints {
            let settings = endpoint.resolver_settings()?;
            if !databases.contains(&settings.database) {
                databases.push(settings.database.clone());
            }
        }
        if databases.len() > 1 {
            return Err(Failure::usage(format!(
                "the configured endpoints have several resolver databases; choose one with \
                 --endpoint: {}",
                names(&self.endpoints)
            )));
        }
        match self.endpoints.first() {
            Some(endpoint) => endpoint.resolver().await,
            None => Err(Failure::usage("no endpoint is configured")),
        }
    }
}

impl Endpoint {
    pub(crate) fn name(&self) -> &str {
        self.configuration.endpoint().as_str()
    }

    fn is_called(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    pub(crate) fn resolver_settings(&self) -> Result<&ResolverSettings, Failure> {
        let settings = self.configuration.section::<ResolverSettings>(RESOLVER);
        settings.ok_or_else(|| {
            Failure::configuration(format!(
                "{} has no section [{RESOLVER}]; it names the file that `nimbus resolver run` \
                 keeps events in: database = \"resolver.db\"",
                self.configuration.path().display()
            ))
        })
    }

    /// The resolver's database, which someone must have filled.
    pub(crate) async fn resolver(&self) -> Result<ResolverStore, Failure> {
        let settings = self.resolver_settings()?;
        let path = settings.database.as_ref();
        if !path.exists() {
            return Err(Failure::configuration(format!(
                "there is no resolver database at {}; `nimbus resolver run` makes and fills it",
                path.display()
            )));
        }
        Ok(settings.open_existing().await?)
    }

    /// As [`resolver`](Self::resolver), where a command can do without.
    pub(crate) async fn resolver_if_any(&self) -> Result<Option<ResolverStore>, Failure> {
        match self.configuration.section::<ResolverSettings>(RESOLVER) {
            Some(settings) if settings.database.as_ref().exists() => {
                Ok(Some(settings.open_existing().await?))
            }
            _ => Ok(None),
        }
    }

    pub(crate) async fn transport(&self) -> Result<Arc<dyn Transport>, Failure> {
        Ok(self.configuration.open_transport().await?)
    }

    pub(crate) async fn manager(&self) -> Result<ManagerClient, Failure> {
        let transport = self.transport().await?;
        let address = Address::new(self.name());
        Ok(ManagerClient::connect(&*transport, address).await?)
    }

    pub(crate) async fn sessions(&self) -> Result<Arc<dyn SessionDirectory>, Failure> {
        let transport = self.transport().await?;
        let endpoint = self.configuration.endpoint();
        let directory = transport.session_directory(endpoint).await?;
        directory.ok_or_else(|| {
            Failure::configuration(format!(
                "the transport {:?} can't list its sessions; the events that block them are in \
                 `nimbus events list --state failed,retry-scheduled,pending-handoff`",
                transport.name()
            ))
        })
    }

    pub(crate) async fn inbox(&self) -> Result<Inbox, Failure> {
        let inbox = self.configuration.open_inbox().await?;
        inbox.ok_or_else(|| {
            Failure::configuration(format!(
                "{} has no section [inbox]: the endpoint has not opted in to deduplication",
                self.configuration.path().display()
            ))
        })
    }
}

fn files(arguments: &PlaceArguments) -> Vec<PathBuf> {
    if !arguments.files.is_empty() {
        return arguments.files.clone();
    }
    let named = env::var_os(VARIABLE).unwrap_or_default();
    env::split_paths(&named)
        .filter(|path| !path.as_os_str().is_empty())
        .collect()
}

fn names(endpoints: &[Endpoint]) -> String {
    let names: Vec<&str> = endpoints.iter().map(Endpoint::name).collect();
    names.join(", ")
}
