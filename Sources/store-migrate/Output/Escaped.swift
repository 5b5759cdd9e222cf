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
        let environment = Surroundings.current.environment
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
