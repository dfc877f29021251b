/// What recording a key found (INB-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recorded {
    /// This call created the record.
    Now,
    /// The record was there already; its first creation time stands.
    Already,
}

impl Recorded {
    /// `true` when this call created the record.
    #[must_use]
    pub fn is_now(self) -> bool {
        matches!(self, Self::Now)
    }
}
