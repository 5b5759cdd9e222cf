/// The limit on the number of aliases in a YAML text.
///
/// The YAML library expands every alias in place, and compares keys by their whole content. A few lines that each name the
/// previous one twice take exponential time. The limit bounds it.
public enum AliasLimit {
    public static let most = 32

    /// True if there are more aliases in the text.
    ///
    /// Quoted text that looks like an alias counts, too, if there seems to be an anchor of its name.
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

    /// True for a character of an anchor's name.
    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
