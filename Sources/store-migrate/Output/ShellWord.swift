import StoreMigration

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

extension NextStep {
    /// The command to type.
    func command(stateFolder: String?) -> String {
        let state = stateFolder.map { ["--state", $0] } ?? []
        let words: [String] =
            switch self {
            case .retire(let old): ["store-migrate", "retire", old] + state
            case .resume(let old): ["store-migrate", "resume", old] + state
            case .share(let old, let new, let flags): ["store-migrate", "share", old, new] + flags + state
            case .status(let old, let new): ["store-migrate", "status", old, new] + state
            case .verify(let store): ["store-migrate", "verify", store]
            case .inspect(let path): ["store-migrate", "inspect", path]
            case .diff(let first, let second): ["store-migrate", "diff", first, second]
            case .merge(let into, let from): ["store-migrate", "merge", into, from]
            case .unmerge(let into): ["store-migrate", "unmerge", into] + state
            case .unshare(let old, let new): ["store-migrate", "unshare", old, new] + state
            case .makeFolder(let path): ["mkdir", "-p", path]
            }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }
}
