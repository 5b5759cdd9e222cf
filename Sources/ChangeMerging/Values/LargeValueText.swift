import FoundationEssentials
import StoreAccess

/// A large value as the coding of ``StoredValue`` writes it, made in pieces.
struct LargeValueText {
    private enum Form {
        case base64, text, hexadecimal
    }

    let opening: String
    let closing: String
    private let form: Form
    private let value: LargeValue
    private let sources: [any LargeValueSource]

    init(_ value: LargeValue, from sources: [any LargeValueSource]) throws {
        self.value = value
        self.sources = sources
        if !value.isText {
            form = .base64
        } else {
            form = try Self.isUnicode(value, sources) ? .text : .hexadecimal
        }
        switch form {
        case .base64: (opening, closing) = (#":{"bytes":{"_0":""#, #""}}"#)
        case .text: (opening, closing) = (#":{"text":{"_0":""#, #""}}"#)
        case .hexadecimal: (opening, closing) = (#":{"text":{"_0":{"utf8":""#, #""}}}"#)
        }
    }

    func write(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest: [UInt8] = []
        try value.forEachPiece(from: sources) { piece in
            switch form {
            case .text: try Self.escaped(piece).withUnsafeBytes(body)
            case .hexadecimal: try SQLText.hexadecimal([UInt8](piece)).utf8.map { $0 }.withUnsafeBytes(body)
            case .base64:
                // Three bytes are four letters.
                let bytes = rest + piece
                let whole = bytes.count / 3 * 3
                rest = Array(bytes[whole...])
                try Data(bytes[..<whole]).base64EncodedData().withUnsafeBytes(body)
            }
        }
        if !rest.isEmpty { try Data(rest).base64EncodedData().withUnsafeBytes(body) }
    }

    private static func isUnicode(_ value: LargeValue, _ sources: [any LargeValueSource]) throws -> Bool {
        var isValid = true
        var rest: [UInt8] = []
        try value.forEachPiece(from: sources) { piece in
            guard isValid else { return }
            let bytes = rest + piece
            // A character of up to four bytes may go on in the next piece.
            let start = bytes.indices.suffix(3).last { bytes[$0] >= 0xc0 }
            let end = start.flatMap { bytes.count - $0 < length(of: bytes[$0]) ? $0 : nil } ?? bytes.count
            rest = Array(bytes[end...])
            isValid = String(validating: bytes[..<end], as: UTF8.self) != nil
        }
        return isValid && rest.isEmpty
    }

    private static func length(of first: UInt8) -> Int { first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2 }

    private static func escaped(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            switch byte {
            case 0x22, 0x5c: result += [0x5c, byte]
            case ..<0x20: result += Array("\\u00".utf8) + [0x30 + (byte >> 4), Self.digits[Int(byte & 15)]]
            default: result.append(byte)
            }
        }
        return result
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
