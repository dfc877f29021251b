//! Dependencies between the workspace's crates point one way.

use super::Violation;
use crate::workspace::{DependencyKind, Package, Workspace};

/// Where a library crate stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Core,
    Messaging,
    /// What the parts over one database engine share.
    Engine,
    Provider,
    Transport,
    Testing,
    Subscriber,
    Resolver,
    /// A program for people, which links what it works on.
    Tool,
}

/// Whether one place may depend on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Permission {
    Allowed,
    /// Only as an optional dependency.
    BehindFeature,
    Denied,
}

impl Place {
    fn of(crate_name: &str) -> Option<Self> {
        match crate_name {
            "nimbus-inbox-core" => Some(Self::Core),
            "nimbus-messaging" => Some(Self::Messaging),
            "nimbus-sqlite" => Some(Self::Engine),
            "nimbus-inbox-testing" => Some(Self::Testing),
            "nimbus-subscriber" => Some(Self::Subscriber),
            "nimbus-resolver" => Some(Self::Resolver),
            "nimbus-cli" => Some(Self::Tool),
            name if name.starts_with("nimbus-inbox-") => Some(Self::Provider),
            name if name.starts_with("nimbus-transport-") => Some(Self::Transport),
            _ => None,
        }
    }

    fn may_use(self, other: Self) -> Permission {
        match (self, other) {
            // A provider's session store is for transports that lack one; a
            // user of the inbox alone does not build the message model.
            (Self::Provider, Self::Messaging) => Permission::BehindFeature,
            (Self::Messaging, Self::Core)
            | (Self::Provider, Self::Core | Self::Engine)
            | (Self::Transport, Self::Core | Self::Messaging | Self::Engine)
            | (Self::Testing | Self::Subscriber, Self::Core | Self::Messaging)
            | (Self::Resolver, Self::Core | Self::Messaging | Self::Engine) => Permission::Allowed,
            // Nobody else uses it, and what is for tests stays out of it.
            (Self::Tool, other) if !matches!(other, Self::Testing | Self::Tool) => {
                Permission::Allowed
            }
            _ => Permission::Denied,
        }
    }
}

/// Checks the packages that `is_library` picks, and xtask, which links no other.
pub(super) fn check(
    workspace: &Workspace,
    is_library: impl Fn(&Package) -> bool,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in &workspace.packages {
        if is_library(package) {
            check_library(workspace, package, &mut violations);
        } else if package.name == "xtask" {
            violations.extend(members(workspace, package).map(|dependency| {
                Violation::WrongDirection {
                    package: package.name.clone(),
                    dependency: dependency.name.clone(),
                }
            }));
        }
    }
    violations
}

fn check_library(workspace: &Workspace, package: &Package, violations: &mut Vec<Violation>) {
    let name = || package.name.clone();
    let Some(place) = Place::of(&package.name) else {
        violations.push(Violation::UnknownPlace { package: name() });
        return;
    };
    for dependency in members(workspace, package) {
        let target = || dependency.name.clone();
        if dependency.kind == DependencyKind::Dev {
            if dependency.req != "*" {
                violations.push(Violation::VersionedDevDependency {
                    package: name(),
                    dependency: target(),
                    version: dependency.req.clone(),
                });
            }
            continue;
        }
        // A test or tool package has no place, and no library may use it.
        let other = Place::of(&dependency.name);
        match other.map_or(Permission::Denied, |other| place.may_use(other)) {
            Permission::Allowed => {}
            Permission::BehindFeature if dependency.optional => {}
            Permission::BehindFeature => violations.push(Violation::NotOptional {
                package: name(),
                dependency: target(),
            }),
            Permission::Denied => violations.push(Violation::WrongDirection {
                package: name(),
                dependency: target(),
            }),
        }
    }
}

/// The dependencies of a package that are packages of this workspace.
fn members<'a>(
    workspace: &'a Workspace,
    package: &'a Package,
) -> impl Iterator<Item = &'a crate::workspace::Dependency> {
    let dependencies = package.dependencies.iter();
    dependencies.filter(|dependency| workspace.package(&dependency.name).is_some())
}

#[cfg(test)]
mod tests;
