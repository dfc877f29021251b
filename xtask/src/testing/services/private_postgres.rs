//! A PostgreSQL of this run alone: installed programs on a new directory and a free port.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use anyhow::{Context, bail};

use super::postgres::{ADDRESS, listens};
use super::{Running, Started};

/// How long a server may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
struct PrivateServer {
    server: Child,
    programs: PathBuf,
    owner: Owner,
    directory: PathBuf,
}

impl Running for PrivateServer {}

/// Starts one, where the programs are installed.
pub(super) fn start() -> anyhow::Result<Option<Started>> {
    let Some(programs) = programs() else {
        return Ok(None);
    };
    let directory = env::temp_dir().join(format!("nimbus-postgres-{}", process::id()));
    fs::create_dir(&directory)
        .with_context(|| format!("{} can't be created", directory.display()))?;
    let started = Owner::of(&directory).and_then(|owner| {
        let (server, port) = start_in(&programs, &owner, &directory)?;
        Ok((server, port, owner))
    });
    if started.is_err() {
        // Nothing runs there.
        let _ = fs::remove_dir_all(&directory);
    }
    let (server, port, owner) = started.context("the installed PostgreSQL could not be started")?;
    let how = format!("started from {} on port {port}", programs.display());
    Ok(Some(Started {
        running: Box::new(PrivateServer {
            server,
            programs,
            owner,
            directory,
        }),
        variable: (
            ADDRESS,
            format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable"),
        ),
        how,
    }))
}

fn start_in(programs: &Path, owner: &Owner, directory: &Path) -> anyhow::Result<(Child, u16)> {
    let data = directory.join("data");
    let created = owner
        .command(programs, "initdb", directory)
        .arg("--pgdata")
        .arg(&data)
        .args(["--username=postgres", "--auth=trust", "--encoding=UTF8"])
        .args(["--locale=C", "--no-sync"])
        .stdout(Stdio::null())
        .status()
        .context("could not start `initdb`")?;
    if !created.success() {
        bail!("`initdb` failed (see above)");
    }
    // Free now; somebody may take it before the server does, which then fails.
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let mut server = owner
        .command(programs, "postgres", directory)
        .arg("-D")
        .arg(&data)
        .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"])
        .args([
            "-c",
            "unix_socket_directories=",
            "-c",
            "max_connections=200",
        ])
        // Its data is thrown away.
        .args(["-c", "fsync=off", "-c", "logging_collector=off"])
        .stdout(Stdio::null())
        .stderr(fs::File::create(directory.join("log"))?)
        .spawn()
        .context("could not start `postgres`")?;
    let since = Instant::now();
    while !listens(port) {
        if let Some(status) = server.try_wait()? {
            bail!("`postgres` ended with {status}");
        }
        if since.elapsed() > PATIENCE {
            let _ = server.kill();
            bail!("`postgres` was not ready after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok((server, port))
}

/// The directory with the programs of a server: on the path, or where packages put it.
fn programs() -> Option<PathBuf> {
    let on_path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = env::split_paths(&on_path).collect();
    let packaged = fs::read_dir("/usr/lib/postgresql");
    let mut versions: Vec<PathBuf> = packaged
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.path().join("bin"))
                .collect()
        })
        .unwrap_or_default();
    // The path may hold nothing but wrappers; the newest package is tried last.
    versions.sort();
    places.extend(versions.into_iter().rev());
    let has = |place: &Path, program: &str| place.join(program).is_file();
    places
        .into_iter()
        .find(|place| has(place, "initdb") && has(place, "postgres"))
}

/// Who the server runs as: PostgreSQL refuses to run as root.
#[derive(Debug)]
struct Owner {
    #[cfg(unix)]
    other: Option<(u32, u32)>,
}

impl Owner {
    #[cfg(unix)]
    fn of(directory: &Path) -> anyhow::Result<Self> {
        use std::os::unix::fs::{MetadataExt, chown};

        const NOBODY: (u32, u32) = (65_534, 65_534);
        if fs::metadata(directory)?.uid() != 0 {
            return Ok(Self { other: None });
        }
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let (user, group) = users.lines().find_map(postgres_user).unwrap_or(NOBODY);
        chown(directory, Some(user), Some(group))
            .with_context(|| format!("{} can't be given away", directory.display()))?;
        Ok(Self {
            other: Some((user, group)),
        })
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> anyhow::Result<Self> {
        Ok(Self {})
    }

    fn command(&self, programs: &Path, program: &str, directory: &Path) -> Command {
        let mut command = Command::new(programs.join(program));
        // The caller's directory may be closed to whoever it runs as.
        command.current_dir(directory).stdin(Stdio::null());
        #[cfg(unix)]
        if let Some((user, group)) = self.other {
            use std::os::unix::process::CommandExt;
            command.uid(user).gid(group);
        }
        command
    }
}

/// User and group of `postgres:x:113:119:…`.
#[cfg(unix)]
fn postgres_user(line: &str) -> Option<(u32, u32)> {
    let mut fields = line.strip_prefix("postgres:")?.split(':').skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Killed, it would leave its shared memory behind.
        let stopped = self
            .owner
            .command(&self.programs, "pg_ctl", &self.directory)
            .args(["stop", "--mode=immediate", "--silent", "--pgdata"])
            .arg(self.directory.join("data"))
            .stdout(Stdio::null())
            .status();
        if !stopped.is_ok_and(|status| status.success()) {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            println!("{} is left behind: {error}", self.directory.display());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Where PostgreSQL isn't installed there is nothing to start.
    #[test]
    fn a_started_server_answers_and_leaves_nothing_behind() {
        let Some(started) = start().unwrap() else {
            return;
        };
        let (_, url) = &started.variable;
        let (_, place) = url.split_once('@').unwrap();
        let port = place.split(['/', ':']).nth(1).unwrap().parse().unwrap();
        assert!(listens(port));
        let directory = env::temp_dir().join(format!("nimbus-postgres-{}", process::id()));
        assert!(directory.exists());
        drop(started);
        assert!(!listens(port));
        assert!(!directory.exists());
    }

    #[test]
    fn the_user_of_the_server_is_read_from_the_list_of_users() {
        let line = "postgres:x:113:119:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash";
        assert_eq!(postgres_user(line), Some((113, 119)));
        assert_eq!(postgres_user("postgres2:x:1:1::/:/bin/sh"), None);
        assert_eq!(postgres_user("postgres:x:one"), None);
    }
}
