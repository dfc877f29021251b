#![doc = include_str!("../README.md")]

mod arguments;
mod commands;
mod confirm;
mod failure;
mod find;
mod output;
mod place;
mod providers;
mod run;
mod target;

pub use run::run;
