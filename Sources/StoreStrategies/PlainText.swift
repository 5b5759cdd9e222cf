/// Text that a person sees as it is.
enum PlainText {
    /// False for control characters, for what changes the direction of text, and for what is no character.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: true
        }
    }
}
