//! `cargo xtask ddl`: the statements as files, for review and for a run by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use nimbus_inbox_postgres::{PostgresInboxOptions, PostgresSessions};
use nimbus_inbox_sqlite::SqliteInboxOptions;

use crate::schema::Part;

/// Write the SQL scripts, or check that they match the code.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder to write them into, one folder per engine.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Write nothing; fail if a script differs from what would be written.
    #[arg(long)]
    check: bool,
}

const HEADER: &str = "-- Written by `cargo xtask ddl`: change the code, not this file.\n\n";

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let engines = [("sqlite", sqlite()), ("postgres", postgres()?)];
    if arguments.check {
        let mut are_as_needed = true;
        for (engine, scripts) in engines {
            are_as_needed &= check(&arguments.out.join(engine), &scripts)?;
        }
        if are_as_needed {
            return Ok(ExitCode::SUCCESS);
        }
        println!("Run `cargo xtask ddl` and commit what it writes.");
        return Ok(ExitCode::FAILURE);
    }
    for (engine, scripts) in engines {
        write(&arguments.out.join(engine), &scripts)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(folder: &Path, scripts: &BTreeMap<String, String>) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} can't be created", folder.display()))?;
    for (name, text) in scripts {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("{} can't be written", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The scripts of PostgreSQL by name of file.
fn postgres() -> anyhow::Result<BTreeMap<String, String>> {
    let options = PostgresInboxOptions::default();
    let schema = options.schema();
    let grants = format!(
        "-- What the role of a service needs, after the other scripts. Tables and role belong to others:
-- create the role first, e.g. `create role {RUNTIME_ROLE} login`, and run each part whose tables
-- are there.

-- The inbox.
{}
-- The session store.
{}",
        options.grants(RUNTIME_ROLE),
        PostgresSessions::grants(schema, RUNTIME_ROLE)?
    );
    let scripts = [
        ("inbox", options.ddl()),
        ("sessions", PostgresSessions::ddl(schema)?),
        ("runtime-role", grants),
    ];
    Ok(scripts
        .into_iter()
        .map(|(name, text)| script(name, &text))
        .collect())
}

/// The role of the service in the scripts.
const RUNTIME_ROLE: &str = "nimbus_runtime";

fn script(name: &str, text: &str) -> (String, String) {
    (
        format!("{name}.sql"),
        format!("{HEADER}{}\n", text.trim_end()),
    )
}

/// The scripts of SQLite by name of file.
fn sqlite() -> BTreeMap<String, String> {
    let parts = [
        Part::inbox(&SqliteInboxOptions::default()),
        Part::sessions(),
        Part::embedded_queue(),
        Part::resolver(),
    ];
    parts
        .into_iter()
        .map(|part| script(part.name, &part.ddl))
        .collect()
}

fn check(folder: &Path, scripts: &BTreeMap<String, String>) -> anyhow::Result<bool> {
    let mut problems = Vec::new();
    for (name, text) in scripts {
        let path = folder.join(name);
        match fs::read_to_string(&path) {
            Ok(written) if written == *text => {}
            Ok(written) => problems.push(format!(
                "{} differs from the code in line {}",
                path.display(),
                first_difference(&written, text)
            )),
            Err(error) => problems.push(format!("{} can't be read: {error}", path.display())),
        }
    }
    for name in left_over(folder, scripts)? {
        problems.push(format!(
            "{} is no script of this version",
            folder.join(name).display()
        ));
    }
    if problems.is_empty() {
        println!("{} match the code", folder.join("*.sql").display());
        return Ok(true);
    }
    for problem in problems {
        println!("{problem}");
    }
    Ok(false)
}

/// The number of the first line that is not the same in both.
fn first_difference(one: &str, other: &str) -> usize {
    let same = one
        .lines()
        .zip(other.lines())
        .take_while(|(one, other)| one == other);
    same.count() + 1
}

fn left_over(folder: &Path, scripts: &BTreeMap<String, String>) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    if !folder.exists() {
        return Ok(names);
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".sql") && !scripts.contains_key(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
