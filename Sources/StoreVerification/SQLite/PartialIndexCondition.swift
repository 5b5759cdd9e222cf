/// The condition after `WHERE` in a `CREATE INDEX` statement.
struct PartialIndexCondition {
    let sql: String

    /// Nil when there is no condition, or when comments make it unclear where it ends.
    init?(of statement: String) {
        let bytes = Array(statement.utf8)
        guard let start = Self.startOfCondition(in: bytes) else { return nil }
        let condition = bytes[start...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard !condition.isEmpty else { return nil }
        sql = String(decoding: condition, as: UTF8.self)
    }

    /// The offset behind the keyword `WHERE` outside parentheses, quotes and names.
    private static func startOfCondition(in bytes: [UInt8]) -> Int? {
        var depth = 0
        var offset = 0
        var found: Int?
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                guard let end = bytes[(offset + 1)...].firstIndex(of: byte) else { return nil }
                offset = end + 1
            case UInt8(ascii: "["):
                guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
                offset = end + 1
            case UInt8(ascii: "-") where offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "-"),
                UInt8(ascii: "/") where offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "*"):
                return nil
            case UInt8(ascii: "("):
                depth += 1
                offset += 1
            case UInt8(ascii: ")"):
                depth -= 1
                offset += 1
            case _ where isIdentifier(byte):
                let end = bytes[offset...].firstIndex { !isIdentifier($0) } ?? bytes.endIndex
                let word = String(decoding: bytes[offset..<end], as: UTF8.self)
                if depth == 0, found == nil, word.uppercased() == "WHERE" { found = end }
                offset = end
            default:
                offset += 1
            }
        }
        return depth == 0 ? found : nil
    }

    private static func isIdentifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
