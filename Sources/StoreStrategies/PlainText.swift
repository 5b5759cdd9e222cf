/// Text without invisible or reordering characters.
enum PlainText {
    /// False for control characters, for characters that change the direction of text, and for unassigned ones.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: true
        }
    }
}
