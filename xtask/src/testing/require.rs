//! `--require`: services whose absence fails a run instead of skipping suites.

use clap::ValueEnum;

use super::Tally;
use crate::workspace::Workspace;

/// A service that some suite needs. A suite that can't find its service lists
/// its tests as ignored, with a reason that begins with the service's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    Postgres,
    Rabbitmq,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Rabbitmq => "rabbitmq",
        }
    }

    /// The package whose tests need the service.
    fn suite(self) -> &'static str {
        match self {
            Self::Postgres => "nimbus-inbox-postgres",
            Self::Rabbitmq => "nimbus-transport-rabbitmq",
        }
    }
}

/// Trouble for each required service that no suite of the workspace uses.
pub(super) fn suites_exist(workspace: &Workspace, required: &[Service]) -> Tally {
    let mut tally = Tally::default();
    for service in required {
        let (name, suite) = (service.name(), service.suite());
        if workspace.package(suite).is_none() {
            tally.trouble(format!(
                "{name} is required, but the workspace has no package `{suite}` whose tests would \
                 use it: take {name} off --require"
            ));
        }
    }
    tally
}

/// Trouble for each required service that a suite did without.
pub(super) fn nothing_required_was_skipped(tally: &mut Tally, required: &[Service]) {
    for service in required {
        let name = service.name();
        let reasons = tally.skipped.iter().filter_map(|test| test.reason.as_ref());
        let missing: Vec<_> = reasons.filter(|reason| reason.starts_with(name)).collect();
        if let Some(reason) = missing.first() {
            let text = format!(
                "{name} is required, but {} tests did without it ({reason})",
                missing.len()
            );
            tally.trouble(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::Skipped;
    use super::*;
    use crate::workspace::Package;

    fn workspace(packages: &[&str]) -> Workspace {
        Workspace {
            packages: packages
                .iter()
                .map(|name| Package {
                    name: (*name).to_owned(),
                    manifest_path: "Cargo.toml".into(),
                    dependencies: Vec::new(),
                    targets: Vec::new(),
                })
                .collect(),
        }
    }

    #[test]
    fn a_service_without_a_suite_fails_the_run() {
        let tally = suites_exist(&workspace(&["nimbus-inbox-postgres"]), &[Service::Postgres]);
        assert!(!tally.is_red());
        let tally = suites_exist(&workspace(&["nimbus-inbox-postgres"]), &[Service::Rabbitmq]);
        assert!(tally.is_red());
    }

    #[test]
    fn a_required_service_that_was_skipped_fails_the_run() {
        let mut tally = Tally::default();
        tally.skipped.push(Skipped {
            name: "conformance purge".to_owned(),
            reason: Some("postgres: nothing listens on 127.0.0.1:5432".to_owned()),
        });
        nothing_required_was_skipped(&mut tally, &[Service::Rabbitmq]);
        assert!(!tally.is_red());
        nothing_required_was_skipped(&mut tally, &[Service::Postgres]);
        assert!(tally.is_red());
    }

    #[test]
    fn the_command_line_knows_each_service_by_its_name() {
        for service in Service::value_variants() {
            let read = Service::from_str(service.name(), false);
            assert_eq!(read.as_ref(), Ok(service));
        }
    }
}
