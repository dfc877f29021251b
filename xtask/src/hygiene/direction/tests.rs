use super::*;
use crate::workspace::Dependency;

fn package(name: &str, dependencies: Vec<Dependency>) -> Package {
    Package {
        name: name.to_owned(),
        manifest_path: format!("/nowhere/{name}/Cargo.toml").into(),
        dependencies,
        targets: Vec::new(),
    }
}

fn normal(name: &str) -> Dependency {
    Dependency {
        name: name.to_owned(),
        req: "^0.1.0".to_owned(),
        kind: DependencyKind::Normal,
        optional: false,
    }
}

fn optional(name: &str) -> Dependency {
    Dependency {
        optional: true,
        ..normal(name)
    }
}

fn dev(name: &str, req: &str) -> Dependency {
    Dependency {
        kind: DependencyKind::Dev,
        req: req.to_owned(),
        ..normal(name)
    }
}

/// Checks one package in a workspace that also holds its dependencies.
fn violations(checked: Package) -> Vec<Violation> {
    let mut packages: Vec<_> = checked
        .dependencies
        .iter()
        .filter(|dependency| dependency.name.starts_with("nimbus-"))
        .map(|dependency| package(&dependency.name, Vec::new()))
        .collect();
    packages.push(checked);
    let workspace = Workspace { packages };
    check(&workspace, |package| {
        package.name.starts_with("nimbus-") && package.name != "nimbus-tests"
    })
}

fn wrong(package: &str, dependency: &str) -> Violation {
    Violation::WrongDirection {
        package: package.to_owned(),
        dependency: dependency.to_owned(),
    }
}

#[test]
fn the_intended_directions_are_allowed() {
    for (name, dependencies) in [
        (
            "nimbus-messaging",
            vec![normal("nimbus-inbox-core"), normal("serde")],
        ),
        (
            "nimbus-inbox-sqlite",
            vec![
                normal("nimbus-inbox-core"),
                normal("nimbus-sqlite"),
                optional("nimbus-messaging"),
                dev("nimbus-inbox-testing", "*"),
            ],
        ),
        (
            "nimbus-transport-embedded",
            vec![normal("nimbus-messaging"), normal("nimbus-sqlite")],
        ),
        (
            "nimbus-subscriber",
            vec![normal("nimbus-inbox-core"), normal("nimbus-messaging")],
        ),
        (
            "nimbus-inbox-testing",
            vec![normal("nimbus-inbox-core"), normal("nimbus-messaging")],
        ),
        (
            "nimbus-resolver",
            vec![normal("nimbus-messaging"), normal("nimbus-sqlite")],
        ),
        (
            "nimbus-cli",
            vec![
                normal("nimbus-resolver"),
                normal("nimbus-subscriber"),
                normal("nimbus-inbox-sqlite"),
                normal("nimbus-transport-embedded"),
            ],
        ),
    ] {
        assert_eq!(violations(package(name, dependencies)), []);
    }
}

#[test]
fn a_dependency_against_the_direction_is_found() {
    for (name, dependency) in [
        ("nimbus-inbox-core", "nimbus-messaging"),
        ("nimbus-messaging", "nimbus-inbox-sqlite"),
        ("nimbus-sqlite", "nimbus-inbox-core"),
        ("nimbus-inbox-sqlite", "nimbus-transport-embedded"),
        ("nimbus-inbox-postgres", "nimbus-inbox-sqlite"),
        ("nimbus-transport-embedded", "nimbus-subscriber"),
        ("nimbus-subscriber", "nimbus-inbox-sqlite"),
        ("nimbus-subscriber", "nimbus-inbox-testing"),
        ("nimbus-inbox-testing", "nimbus-subscriber"),
        ("nimbus-inbox-testing", "nimbus-tests"),
        ("nimbus-resolver", "nimbus-subscriber"),
        ("nimbus-resolver", "nimbus-transport-embedded"),
        ("nimbus-subscriber", "nimbus-resolver"),
        ("nimbus-cli", "nimbus-inbox-testing"),
        ("nimbus-resolver", "nimbus-cli"),
    ] {
        let found = violations(package(name, vec![normal(dependency)]));
        assert_eq!(found, [wrong(name, dependency)]);
    }
}

#[test]
fn xtask_links_no_crate_of_the_workspace() {
    let found = violations(package(
        "xtask",
        vec![normal("clap"), dev("nimbus-sqlite", "*")],
    ));
    assert_eq!(found, [wrong("xtask", "nimbus-sqlite")]);
}

#[test]
fn a_provider_takes_messaging_only_behind_a_feature() {
    let found = violations(package(
        "nimbus-inbox-sqlite",
        vec![normal("nimbus-messaging")],
    ));
    assert!(
        matches!(found[..], [Violation::NotOptional { .. }]),
        "{found:?}"
    );
}

#[test]
fn a_dev_dependency_inside_the_workspace_names_no_version() {
    let found = violations(package(
        "nimbus-inbox-core",
        vec![dev("nimbus-inbox-testing", "^0.1.0")],
    ));
    assert!(
        matches!(&found[..], [Violation::VersionedDevDependency { version, .. }] if version == "^0.1.0"),
        "{found:?}"
    );
}

#[test]
fn a_crate_of_unknown_place_is_found() {
    let found = violations(package("nimbus-utilities", vec![normal("serde")]));
    assert!(
        matches!(found[..], [Violation::UnknownPlace { .. }]),
        "{found:?}"
    );
}
