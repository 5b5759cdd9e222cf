import SafeFiles
import StoreFormat
import StoreWriting
import TestSupport

/// A metadata property list, of either form: decoded, queried for all values, and encoded again.
final class MetadataTarget: FuzzTarget {
    static let name = "metadata"
    static let mostBytes = 16 << 10
    static let words = [
        "bplist00", "NSStoreModelVersionHashes", "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey",
        "NSStoreModelVersionIdentifiers", "NSPersistenceFrameworkVersion", "NSStoreType", "NSStoreUUID",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<!DOCTYPE plist", "<plist version=\"1.0\">", "</plist>",
        "<dict>",
        "</dict>", "<key>", "</key>", "<string>", "</string>", "<integer>", "</integer>", "<real>", "<date>", "<data>",
        "<true/>", "<array>", "</array>", "<![CDATA[", "]]>", "<!--", "-->", "&amp;", "&#x10FFFF;", "&#0;",
        "2026-03-01T00:00:00Z",
    ]
    /// The number of values up to which a list is encoded again; a list may expand to much more than its bytes.
    private static let mostValues = 20_000

    init(in folder: Directory) throws {}

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
            <key>NSStoreType</key><string>SQLite &lt;&#x41;&gt;</string>
            <key>NSPersistenceFrameworkVersion</key><integer>-1244</integer>
            <key>NSStoreModelVersionHashes</key><dict><key>Book</key><data>AAECAwQFBgcICQ==</data></dict>
            <key>a</key><array><true/><false/><real>1.5e3</real><date>2026-03-01T00:00:00Z</date><!-- x --></array>
            </dict></plist>
            """
        return [Array(xml.utf8)] + (try source.blobs("SELECT Z_PLIST FROM Z_METADATA"))
    }

    func run(_ bytes: [UInt8]) throws {
        let metadata = StoreMetadata(uuid: "", propertyList: bytes)
        _ = (metadata.frameworkVersion, metadata.modelDigest, metadata.modelChecksum, metadata.recordedModelDigest)
        let value = try PropertyListReader.value(from: bytes)
        var left = Self.mostValues
        guard Self.isSmall(value, &left) else { return }
        let written = PropertyListWriter.bytes(of: value)
        guard PropertyListWriter.bytes(of: try PropertyListReader.value(from: written)) == written else {
            Fuzzing.fail("the encoded list decodes to another value")
        }
    }

    private static func isSmall(_ value: PropertyListValue, _ left: inout Int) -> Bool {
        left -= 1
        guard left > 0 else { return false }
        switch value {
        case .array(let elements):
            for element in elements where !isSmall(element, &left) { return false }
        case .dictionary(let members):
            for member in members.values where !isSmall(member, &left) { return false }
        case .string, .integer, .real, .boolean, .date, .data, .uid: break
        }
        return true
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        PropertyListChanges.changed(bytes, using: &generator)
    }
}
