/// A transaction of plain SQL by another process.
package struct StoreWrite: Sendable {
    package let store: String
    package let statements: [String]
    /// The started process that does it; nil for one of its own.
    package let process: String?
    /// Nil when it must succeed.
    package let refusal: Refusal?
}

/// That a write must not succeed.
package enum Refusal: Sendable {
    case any
    /// The message holds this text.
    case saying(String)
}
