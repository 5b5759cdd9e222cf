/// A transaction of plain SQL by another process.
package struct StoreWrite: Sendable {
    package let store: String
    package let statements: [String]
    /// The started process that does it; nil for one of its own.
    package let process: String?
    /// Nil when it must succeed.
    package let refusal: Refusal?
}

/// The expectation that a write fails.
package enum Refusal: Sendable {
    case any
    /// The message contains this text.
    case saying(String)
}
