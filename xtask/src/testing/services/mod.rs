//! The services that suites need: found, or started for the time of the run.

mod container;
mod postgres;
mod private_postgres;

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

impl Services {
    /// Finds or starts what the selected suites need. What can't be had is left to the suites,
    /// which then say what they miss.
    pub(super) fn prepare(selection: &Selection) -> Self {
        let mut services = Self::default();
        let packages = &selection.packages;
        let has_suite =
            |suite: &str| packages.is_empty() || packages.iter().any(|one| one == suite);
        if has_suite("nimbus-inbox-postgres") {
            services.prepare_postgres();
        }
        services
    }

    fn prepare_postgres(&mut self) {
        if let Found::There(place) = postgres::find() {
            println!("postgres: {place}");
            return;
        }
        let starting: [fn() -> anyhow::Result<Option<Started>>; 2] =
            [container::postgres, private_postgres::start];
        for start in starting {
            match start() {
                Ok(Some(started)) => {
                    println!("postgres: {}", started.how);
                    let (name, value) = started.variable;
                    self.environment.push((name.to_owned(), value));
                    self.running.push(started.running);
                    return;
                }
                Ok(None) => {}
                Err(error) => println!("postgres: {error:#}"),
            }
        }
        println!(
            "postgres: none found: set {}, or install PostgreSQL or a container engine",
            postgres::ADDRESS
        );
    }

    /// Tells a command that runs tests where the services are.
    pub(super) fn tell(&self, command: &mut Command) {
        command.envs(self.environment.iter().cloned());
    }
}
