/// Turns message fragments into sentences.
enum ReportSentence {
    /// The fragment with a capital and a full stop.
    static func text(_ fragment: String) -> String {
        let line = Escaped.line(fragment)
        let end = line.isEmpty || line.hasSuffix(".") || line.hasSuffix("?") ? "" : "."
        return line.prefix(1).uppercased() + line.dropFirst() + end
    }
}
