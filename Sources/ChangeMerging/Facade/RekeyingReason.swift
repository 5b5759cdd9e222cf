/// Why the key of an object changed.
public enum RekeyingReason: String, Hashable, Sendable, Codable {
    /// The shared store assigned the key to another object.
    case newKey
    /// Both stores contain the same object, by its unique or identifying values.
    case sameObject
}
