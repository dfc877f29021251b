use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use tempfile::TempDir;

/// A place of its own for one test: a name, a directory and shared values.
///
/// Clones are the same place. The directory is removed with the last of them.
#[derive(Clone)]
pub struct Namespace(Arc<Place>);

struct Place {
    name: String,
    directory: OnceLock<TempDir>,
    shared: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
}

impl Namespace {
    /// A namespace that no other test has, in this process or another.
    #[must_use]
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let since_epoch = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self(Arc::new(Place {
            // Two processes of one number differ in time, two of one time in number.
            name: format!(
                "ns_{:x}_{:x}_{number:x}",
                since_epoch.as_micros(),
                process::id()
            ),
            directory: OnceLock::new(),
            shared: Mutex::default(),
        }))
    }

    /// A name for a table, schema, container or queue: lower-case ASCII letters, digits and
    /// underscores, a letter first, at most 48 characters.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// An empty directory, created when it is first asked for.
    ///
    /// # Panics
    ///
    /// When the system's temporary directory can't be written.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.0
            .directory
            .get_or_init(|| {
                TempDir::with_prefix("nimbus-")
                    .expect("a test needs a temporary directory: check TMPDIR and its free space")
            })
            .path()
    }

    /// The value of its type that this namespace holds; the first call makes it.
    ///
    /// This is how a store whose records live in the process, or a pool that several stores
    /// share, is the same for every call of a factory.
    pub fn shared<T: Clone + Send + 'static>(&self, init: impl FnOnce() -> T) -> T {
        let mut shared = self.0.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let value = shared
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Box::new(init()));
        value
            .downcast_ref::<T>()
            .expect("values are kept by their type")
            .clone()
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Namespace").field(&self.0.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_fit_any_engine() {
        let (one, other) = (Namespace::unique(), Namespace::unique());
        assert_ne!(one.name(), other.name());
        assert!(one.name().len() <= 48);
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(one.name().chars().all(fits) && one.name().starts_with('n'));
    }

    #[test]
    fn the_directory_goes_with_the_last_clone() {
        let namespace = Namespace::unique();
        let clone = namespace.clone();
        let path = namespace.directory().to_owned();
        std::fs::write(path.join("file"), "text").unwrap();
        assert_eq!(clone.directory(), path);
        drop(namespace);
        assert!(path.exists());
        drop(clone);
        assert!(!path.exists());
    }

    #[test]
    fn a_shared_value_is_made_once_per_namespace() {
        let namespace = Namespace::unique();
        assert_eq!(namespace.shared(|| 1_u8), 1);
        assert_eq!(namespace.clone().shared(|| 2_u8), 1);
        assert_eq!(namespace.shared(|| "text"), "text");
        assert_eq!(Namespace::unique().shared(|| 2_u8), 2);
    }
}
