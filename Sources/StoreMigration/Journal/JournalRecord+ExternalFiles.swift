import FoundationEssentials
import SafeFiles

/// A record as JSON. Up to a hundred thousand external files are read and written one by one, because a coder needs
/// many times their size in memory.
extension JournalRecord {
    private static let key = Array("\"externalFiles\":{".utf8)

    /// The external files of the record.
    private var externalFiles: NameTable<FileIdentity> {
        get {
            switch self {
            case .publishing(let publication): publication.externalFiles
            case .replacing(let replacement): replacement.externalFiles
            default: NameTable()
            }
        }
        set {
            switch self {
            case .publishing(var publication):
                publication.externalFiles = newValue
                self = .publishing(publication)
            case .replacing(var replacement):
                replacement.externalFiles = newValue
                self = .replacing(replacement)
            default: break
            }
        }
    }

    /// The record without the names of external files, which only the recovery of its run needs.
    mutating func dropExternalFiles() {
        if !externalFiles.isEmpty { externalFiles = NameTable() }
    }

    /// The JSON, after `space` bytes that the caller fills.
    func encoded(after space: Int) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let files = externalFiles
        var rest = self
        rest.externalFiles = NameTable()
        let body = try [UInt8](encoder.encode(rest))
        var text = [UInt8](repeating: 0, count: space)
        // JSON strings escape quotation marks, so the first match is the key.
        guard !files.isEmpty, let place = body.firstRange(of: Self.key) else { return text + body }
        // The caller appends a line feed.
        text.reserveCapacity(space + body.count + files.names.reduce(0) { $0 + $1.utf8.count + 64 } + 1)
        text += body[..<place.upperBound]
        for (index, file) in files.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            Self.append(file.name, to: &text)
            text += ":{\"device\":\(file.value.device),\"inode\":\(file.value.inode)}".utf8
        }
        text += body[place.upperBound...]
        return text
    }

    init?(decoding body: [UInt8]) {
        let decoder = JSONDecoder()
        if let place = body.firstRange(of: Self.key), let list = ExternalFilesText(body, from: place.upperBound),
            var record = try? decoder.decode(Self.self, from: Data(body[..<place.upperBound] + body[list.end...]))
        {
            record.externalFiles = list.files
            self = record
        } else if let record = try? decoder.decode(Self.self, from: Data(body)) {
            self = record
        } else {
            return nil
        }
        guard hasValidNames else { return nil }
    }

    private static func append(_ name: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case ..<0x20: text += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}

/// Parses external files as ``JournalRecord/encoded(after:)`` writes them.
private struct ExternalFilesText {
    /// The bytes of the shortest entry: `"a":{"device":1,"inode":1},`.
    private static let shortest = 27

    private(set) var files = NameTable<FileIdentity>()
    /// The index of the closing brace.
    private(set) var end: Int
    private let text: [UInt8]

    /// Nil for another layout, which the decoder then reads.
    init?(_ text: [UInt8], from start: Int) {
        self.text = text
        end = start
        guard !skip("}") else { return nil }
        // Memory that is not used costs nothing, and a list that grows takes up to twice its size.
        files.reserveCapacity((text.count - start) / Self.shortest, bytes: text.count - start)
        repeat {
            guard let name = name(), skip(":{\"device\":"), let device = number(), skip(",\"inode\":"),
                let inode = number(), skip("}")
            else { return nil }
            files.append(name, FileIdentity(device: device, inode: inode))
        } while skip(",")
        guard end < text.endIndex, text[end] == UInt8(ascii: "}") else { return nil }
        files.putInOrder()
    }

    private mutating func skip(_ wanted: StaticString) -> Bool {
        wanted.withUTF8Buffer { wanted in
            guard text[end...].starts(with: wanted) else { return false }
            end += wanted.count
            return true
        }
    }

    private mutating func number() -> UInt64? {
        let digits = text[end...].prefix { (0x30...0x39).contains($0) }
        end = digits.endIndex
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    private mutating func name() -> String? {
        let start = end
        guard skip("\"") else { return nil }
        var isEscaped = false
        var hasEscapes = false
        while end < text.endIndex, isEscaped || text[end] != UInt8(ascii: "\"") {
            isEscaped = !isEscaped && text[end] == UInt8(ascii: "\\")
            hasEscapes = hasEscapes || isEscaped
            end += 1
        }
        guard skip("\"") else { return nil }
        if hasEscapes { return try? JSONDecoder().decode(String.self, from: Data(text[start..<end])) }
        return String(validating: text[(start + 1)..<(end - 1)], as: UTF8.self)
    }
}
