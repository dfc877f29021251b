//! The second act: what fails stays failed until somebody mends its cause. An operator looks with
//! the `nimbus` tool, mends, has the event handled once more, and settles a handoff.

mod act;
mod configuration;
mod order;
mod scene;
mod tool;
mod verdict;
mod wait;

#[cfg(test)]
mod tests;

pub(crate) use act::perform;
pub(crate) use tool::Tool;
pub(crate) use verdict::Verdict;
