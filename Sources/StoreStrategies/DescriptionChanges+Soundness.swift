extension DescriptionChanges {
    private static let longestTimeout = 86_400.0
    private static let longestText = 64

    /// The first option with a value that no store should be opened with, and why; nil when all values are sound.
    ///
    /// The value is cut and quoted, since it may come from an untrusted plugin.
    public var objection: (option: DescriptionOption, value: String, reason: String)? {
        if let mode = posixMode, mode & ~0o777 != 0 || mode & 0o600 != 0o600 || mode & 0o002 != 0 {
            return (.posixMode, PosixMode.text(mode), "its owner could not use the store, or everybody could change it")
        }
        if let timeout, !(0...Self.longestTimeout).contains(timeout) {
            return (.timeout, "\(timeout)", "that is no time to wait, in seconds up to a day")
        }
        if Set(sqlitePragmas.keys.map { $0.lowercased() }).count != sqlitePragmas.count,
            let name = sqlitePragmas.keys.min()
        {
            return (.sqlitePragma(name), "two values", "one of them would be left to chance")
        }
        for (name, value) in sqlitePragmas.sorted(by: { $0.key < $1.key }) {
            guard Self.isWord(name) else {
                return (.sqlitePragma(Self.quoted(name)), Self.quoted(value), "that is no name of a pragma")
            }
            let option = DescriptionOption.sqlitePragma(name)
            guard Self.isWord(value) else { return (option, Self.quoted(value), "that is no value of a pragma") }
            if option == .journalMode, !["WAL", "DELETE", "TRUNCATE", "PERSIST"].contains(value.uppercased()) {
                return (option, value.uppercased(), "a crash loses the store with it")
            }
            if option == .sqlitePragma("synchronous"), ["OFF", "0"].contains(value.uppercased()) {
                return (option, value.uppercased(), "a crash loses the store with it")
            }
        }
        for (option, text) in [(DescriptionOption.configuration, configuration), (.posixGroup, posixGroup)] {
            if let text, !Self.isPlain(text) { return (option, Self.quoted(text), "that is no name") }
        }
        return nil
    }

    /// True for the words and numbers that pragmas take.
    private static func isWord(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0 == 0x2D || $0 == 0x5F || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
    }

    private static func isPlain(_ text: String) -> Bool {
        (1...longestText).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy(PlainText.isPlain)
    }

    private static func quoted(_ text: String) -> String {
        "'"
            + text.unicodeScalars.prefix(longestText)
            .map { $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F ? String($0) : "?" }
            .joined() + "'"
    }
}
