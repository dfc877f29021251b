use config::{Config, ConfigError, Source};

use super::Table;

/// The values of the file, with those of the environment over them.
pub(in crate::config) fn merged(file: Table, environment: Table) -> Result<Table, ConfigError> {
    Config::builder()
        .add_source(Checked(file))
        .add_source(Checked(environment))
        .build()?
        .collect()
}

/// Values whose keys are known, so that none is taken for a path.
#[derive(Debug, Clone)]
struct Checked(Table);

impl Source for Checked {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Table, ConfigError> {
        Ok(self.0.clone())
    }
}
