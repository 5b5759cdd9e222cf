/// Why an object has another key than it had.
public enum RekeyingReason: String, Hashable, Sendable, Codable {
    /// The shared store gave the key to another object.
    case newKey
    /// Both stores hold the same object, by its unique or identifying values.
    case sameObject
}
