use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::plan::Kill;

/// What one consumer process is told. In a file, since message ids can hold anything.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Instructions {
    /// Which consumer of the run it is, from 1.
    pub(crate) run: u32,
    /// Where to hold a message, if at all.
    pub(crate) hold: Option<Kill>,
    /// How many attempts at an event fail before one succeeds, by message id.
    pub(crate) failures: BTreeMap<String, u32>,
    pub(crate) troubles: Troubles,
}

/// Events that need somebody outside, by event id.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Troubles {
    /// Their customer is not in the tax register.
    pub(crate) unregistered: BTreeSet<String>,
    /// An external job does their work.
    pub(crate) jobs: BTreeMap<String, String>,
}

impl Instructions {
    pub(crate) fn write(&self, directory: &Path) -> anyhow::Result<()> {
        let path = path(directory);
        fs::write(&path, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("can't write {}", path.display()))
    }

    pub(crate) fn read(directory: &Path) -> anyhow::Result<Self> {
        let path = path(directory);
        let text = fs::read(&path).with_context(|| format!("can't read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("can't read {}", path.display()))
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join("consumer.json")
}
