//! Which code implements each numbered requirement, and which tests prove it: read from the comments
//! that name them.

mod finding;
mod names;
mod page;
mod source;
mod survey;
mod test_functions;
mod titles;

pub(crate) use finding::Finding;
pub(crate) use page::render;
pub(crate) use survey::Survey;
