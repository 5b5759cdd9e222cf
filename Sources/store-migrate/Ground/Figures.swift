import FoundationEssentials

/// Numbers for people, formatted without loading a Foundation formatter.
enum Figures {
    /// `1,204`.
    static func grouped(_ number: Int64) -> String {
        let digits = String(number.magnitude)
        var result = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result += "," }
            result.append(digit)
        }
        return result
    }

    /// `1,204 objects`, `1 object`.
    static func count(_ number: Int64, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `4.1 MB`: three units of a thousand, one digit after the point.
    static func bytes(_ number: Int64) -> String {
        let units: [(String, Int64)] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)]
        for (unit, size) in units where number >= size {
            let tenths = number / (size / 10)
            return "\(grouped(tenths / 10)).\(tenths % 10) \(unit)"
        }
        return count(max(0, number), "byte")
    }

    /// `0.4 s`.
    static func seconds(_ duration: Duration) -> String {
        let tenths = (totalMilliseconds(duration) + 50) / 100
        return "\(grouped(tenths / 10)).\(tenths % 10) s"
    }

    /// `0.412`, as JSON has it.
    static func milliseconds(_ duration: Duration) -> String {
        let total = totalMilliseconds(duration)
        return "\(total / 1000).\(String(String(total % 1000 + 1000).dropFirst()))"
    }

    static func hexadecimal(_ number: UInt32, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func totalMilliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

/// Dates as ISO 8601, with microseconds if they are not whole seconds.
enum DateText {
    /// About 7,900 years before and after 2001; a value outside is not formatted as a date.
    private static let range = -250_000_000_000.0...250_000_000_000.0

    /// The same for a Unix time.
    static func text(secondsSince1970 seconds: Int64) -> String? { text(Date(timeIntervalSince1970: Double(seconds))) }

    /// `2026-07-20T06:58:00Z` or `2026-07-20T06:58:00.25Z`; nil outside the supported range.
    static func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard range.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        let micros = Int64(((seconds - whole) * 1_000_000).rounded())
        // A fraction may round up to a whole second.
        let base = Date(timeIntervalSinceReferenceDate: whole + Double(micros / 1_000_000))
        let text = base.formatted(.iso8601)
        let rest = micros % 1_000_000
        guard rest > 0, text.hasSuffix("Z") else { return text }
        var digits = String(String(rest + 1_000_000).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return text.dropLast() + "." + digits + "Z"
    }
}

/// Escapes untrusted text for a terminal, on one line.
enum Escaped {
    /// True for control characters, line and paragraph separators, and characters that change text direction.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    /// The text with every unsafe character written as `\u{…}`.
    static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                result += "\\u{" + Figures.hexadecimal(scalar.value, digits: 1) + "}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A path for a person to read, with `~` for the home folder.
    ///
    /// Commands to type keep the whole path: after `sudo`, or in another user's shell, `~` is another folder.
    static func path(_ path: String) -> String {
        let environment = ToolSurroundings.current.environment
        guard let home = environment["HOME"], home.hasPrefix("/"), !home.hasSuffix("/"), path.hasPrefix(home + "/")
        else { return text(path) }
        return "~" + text(String(path.dropFirst(home.count)))
    }

    /// A message of several lines as one line of several sentences.
    static func line(_ message: String) -> String {
        message.split(separator: "\n").map { $0.drop(while: \.isWhitespace) }.filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}

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

    private static func variable(_ name: String) -> String { ToolSurroundings.current.environment[name] ?? "" }
}
