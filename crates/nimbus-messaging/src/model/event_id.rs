super::caseless::caseless_name! {
    /// The id of an event, shared by every message that concerns it.
    ///
    /// Two ids are equal when they differ only by ASCII case (SUB-04).
    EventId
}
