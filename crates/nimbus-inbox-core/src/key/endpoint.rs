//! The endpoint half of a key.

super::opaque::opaque_text! {
    /// The configured name of one subscriber, e.g. `BillingEndpoint`.
    EndpointId, at most 260 UTF-16 code units
}
