//! The services that suites need: found, or started for the time of the run.

mod container;
mod postgres;
mod private_postgres;
mod rabbitmq;

use std::process::Command;

use super::Selection;

/// What the tests are told, and what runs for them until this is dropped.
#[derive(Debug, Default)]
pub(super) struct Services {
    environment: Vec<(String, String)>,
    running: Vec<Box<dyn Running>>,
}

/// A service that ends when it is dropped.
trait Running: std::fmt::Debug {}

/// A service where somebody said, or where it usually is.
enum Found {
    /// The tests find it by themselves.
    There(String),
    /// Nothing is there.
    Nowhere,
}

/// A service that was started for this run.
struct Started {
    running: Box<dyn Running>,
    /// What the tests have to know.
    variable: (&'static str, String),
    how: String,
}

/// Starts a service, where that is possible.
type Start = fn() -> anyhow::Result<Option<Started>>;

impl Services {
    /// Finds or starts what the selected suites need. What can't be had is left to the suites,
    /// which then say what they miss.
    pub(super) fn prepare(selection: &Selection) -> Self {
        let mut services = Self::default();
        let packages = &selection.packages;
        let has_suite =
            |suite: &str| packages.is_empty() || packages.iter().any(|one| one == suite);
        if has_suite("nimbus-inbox-postgres") {
            let starting: [Start; 2] = [container::postgres, private_postgres::start];
            services.prepare_one("postgres", postgres::find(), &starting);
        }
        if has_suite("nimbus-transport-rabbitmq") {
            services.prepare_one("rabbitmq", rabbitmq::find(), &[container::rabbitmq]);
        }
        services
    }

    /// Takes what was found, or else the first that can be started.
    fn prepare_one(&mut self, name: &str, found: Found, starting: &[Start]) {
        if let Found::There(place) = found {
            println!("{name}: {place}");
            return;
        }
        for start in starting {
            match start() {
                Ok(Some(started)) => {
                    println!("{name}: {}", started.how);
                    let (variable, value) = started.variable;
                    self.environment.push((variable.to_owned(), value));
                    self.running.push(started.running);
                    return;
                }
                Ok(None) => {}
                Err(error) => println!("{name}: {error:#}"),
            }
        }
        println!(
            "{name}: none found, and none could be started: set NIMBUS_{}_URL, or install a \
             container engine",
            name.to_uppercase()
        );
    }

    /// Tells a command that runs tests where the services are.
    pub(super) fn tell(&self, command: &mut Command) {
        command.envs(self.environment.iter().cloned());
    }
}
