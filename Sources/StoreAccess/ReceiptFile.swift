import FoundationEssentials
package import SafeFiles

/// The content digest that a share recorded in the receipt beside a store.
package struct ReceiptFile: Hashable, Sendable, Codable {
    private static let greatestSize = 1 << 20

    /// The content digest at the time of the share.
    package let digest: String
    /// The store's token at that content; nil if other processes may have written before it was read.
    package let token: FileToken?

    /// The longest name of a store, in bytes, whose companion files still have valid names.
    ///
    /// The longest of these is the receipt's temporary name during a replacement.
    package static let longestStoreName = 255 - receiptName(for: "").utf8.count - ".new".utf8.count

    /// The receipt's file name beside the store `name`.
    package static func receiptName(for name: String) -> String { ".\(name).store-migrate.json" }

    /// The bytes of the receipt beside the store `name`; nil if there is no readable one.
    ///
    /// Throws after a failure that may pass.
    package static func receipt(beside name: String, in folder: Directory) throws -> [UInt8]? {
        try FileError.ifUsable { try folder.contents(of: receiptName(for: name), limit: greatestSize) }
    }

    /// Reads the record beside the store `name`; nil if there is no readable one.
    ///
    /// Throws after a failure that may pass.
    package init?(beside name: String, in folder: Directory) throws {
        guard let bytes = try Self.receipt(beside: name, in: folder),
            let content = try? JSONDecoder().decode(ReceiptFile.self, from: Data(bytes))
        else { return nil }
        self = content
    }
}
