/// Quotes words for a POSIX shell.
enum ShellWord {
    static func quoted(_ word: String) -> String {
        if word.unicodeScalars.contains(where: Escaped.isUnsafe) { return "$'\(escaped(word))'" }
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789/._-+:@%=,".unicodeScalars.contains($0)
            }
        guard !isPlain else { return word }
        // By scalar: a quote and a combining mark form one Character, but a shell sees the quote.
        return "'" + word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// The inside of `$'…'`, which bash, zsh and POSIX 2024 support.
    private static func escaped(_ word: String) -> String {
        var result = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "'", "\\": result += "\\\(scalar)"
            default:
                if Escaped.isUnsafe(scalar) {
                    for byte in String(scalar).utf8 { result += "\\x" + Figures.hexadecimal(UInt32(byte), digits: 2) }
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result
    }
}
