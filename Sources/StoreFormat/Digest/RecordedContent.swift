import FoundationEssentials
package import SafeFiles

/// What a share recorded of a store's content in the receipt beside it.
package struct RecordedContent: Hashable, Sendable, Codable {
    private static let greatestSize = 1 << 20

    /// The content digest of what was shared.
    package let digest: String
    /// The store as it was when it held that; nil when others may have written to it before it could be asked.
    package let token: FileToken?

    /// The longest name of a store, in bytes, that leaves room beside it: of all that goes there, the receipt has the longest
    /// name while it is replaced.
    package static let longestStoreName = 255 - receiptName(for: "").utf8.count - ".new".utf8.count

    /// The receipt's file name beside the store `name`.
    package static func receiptName(for name: String) -> String { ".\(name).store-migrate.json" }

    /// The bytes of the receipt beside the store `name`; nil when there is none that can be read.
    package static func receipt(beside name: String, in folder: Directory) -> [UInt8]? {
        try? folder.contents(of: receiptName(for: name), limit: greatestSize)
    }

    /// What is recorded beside the store `name`; nil when there is nothing that can be read.
    package init?(beside name: String, in folder: Directory) {
        guard let bytes = Self.receipt(beside: name, in: folder),
            let content = try? JSONDecoder().decode(RecordedContent.self, from: Data(bytes))
        else { return nil }
        self = content
    }
}
