/// Colours for terminal output.
struct Style {
    let isColoured: Bool

    static let plain = Style(isColoured: false)

    init(isColoured: Bool) { self.isColoured = isColoured }

    /// Colours on a terminal that supports them, unless `--no-color` or `NO_COLOR` disables them.
    init(for stream: StandardStream, noColor: Bool) {
        isColoured =
            !noColor && Self.variable("NO_COLOR").isEmpty && Self.variable("TERM") != "dumb" && stream.isTerminal
    }

    func bold(_ text: String) -> String { paint(text, "1") }
    func red(_ text: String) -> String { paint(text, "31") }
    func green(_ text: String) -> String { paint(text, "32") }
    func yellow(_ text: String) -> String { paint(text, "33") }
    func dim(_ text: String) -> String { paint(text, "2") }

    private func paint(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    private static func variable(_ name: String) -> String { Surroundings.current.environment[name] ?? "" }
}
