//! The message half of a key.

super::opaque::opaque_text! {
    /// The broker's id of a delivery.
    MessageId, at most 512 UTF-16 code units
}
