/// Quotes words for a POSIX shell.
enum ShellWord {
    static func quoted(_ word: String) -> String {
        if word.unicodeScalars.contains(where: isUnsafe) { return "$'\(escaped(word))'" }
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789/._-+:@%=,".unicodeScalars.contains($0)
            }
        guard !isPlain else { return word }
        // By scalar: a quote and a combining mark form one Character, but a shell sees the quote.
        return "'" + word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// True for characters that a terminal does not show as they are: control and format characters, line and paragraph
    /// separators.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The inside of `$'…'`, which bash, zsh and POSIX 2024 support.
    private static func escaped(_ word: String) -> String {
        var result = ""
        for scalar in word.unicodeScalars {
            if scalar == "'" || scalar == "\\" {
                result += "\\\(scalar)"
            } else if isUnsafe(scalar) {
                for byte in String(scalar).utf8 { result += (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16) }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
