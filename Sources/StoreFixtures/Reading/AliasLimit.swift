/// How often a YAML text may name again what it named by an anchor.
///
/// The YAML library unfolds every alias where it stands, and compares keys by all that they hold: in a few lines of which
/// each names the one before it twice, that takes longer than anybody waits. Under the limit it cannot become much.
public enum AliasLimit {
    public static let most = 32

    /// True if there are more aliases in the text.
    ///
    /// What only looks like one, in a quoted text, counts where an anchor of its name seems to be there too.
    public static func isExceeded(by text: String) -> Bool {
        var anchors: Set<String> = []
        var aliases: [String] = []
        let bytes = text[...].utf8
        var last = UInt8(ascii: " ")
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index = bytes.index(after: index)
            defer { last = byte }
            let isAnchor = byte == UInt8(ascii: "&")
            guard isAnchor || byte == UInt8(ascii: "*"), !isPartOfName(last) else { continue }
            let name = String(Substring(bytes[index...].prefix(while: isPartOfName)))
            guard !name.isEmpty else { continue }
            if isAnchor { anchors.insert(name) } else { aliases.append(name) }
        }
        return aliases.count(where: anchors.contains) > most
    }

    /// What the names of anchors may consist of.
    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
