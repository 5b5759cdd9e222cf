import ChangeRelay
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport

/// A group's preferences in the published form of the relay: an archived array of dictionaries under a key.
struct LegacyPreferences {
    let scratch: ScratchFolder
    let key: String
    var other: [String: PropertyListValue] = ["other": .string("kept")]

    var file: StoreLocation { scratch.location("group.plist") }

    /// Writes payloads, each a list of sets and the addresses of their objects.
    func write(_ payloads: [[(String, [String])]]) throws {
        try write(value: .data(PropertyListWriter.bytes(of: Self.archive(payloads))))
    }

    func write(value: PropertyListValue?) throws {
        var all = other
        all[key] = value
        if try scratch.directory.status(of: file.name) != nil { try scratch.directory.removeFile(file.name) }
        try scratch.write(file.name, PropertyListWriter.bytes(of: .dictionary(all)), mode: 0o640)
    }

    /// The current content of the file.
    func values() throws -> [String: PropertyListValue] {
        guard case .dictionary(let values) = try PropertyListReader.value(from: scratch.bytes(file.name)) else {
            return [:]
        }
        return values
    }

    /// The archive that `NSKeyedArchiver` makes of `[[String: [URL]]]`.
    private static func archive(_ payloads: [[(String, [String])]]) -> PropertyListValue {
        var writer = KeyedArchiveWriter()
        let elements = payloads.map { payload in
            let entries = payload.map { name, addresses in
                let urls = addresses.map { address in
                    let text = writer.string(address)
                    return writer.object(
                        ["NSURL", "NSObject"],
                        ["NS.base": KeyedArchiveWriter.null, "NS.relative": text]
                    )
                }
                return (key: writer.string(name), value: writer.array(urls))
            }
            return writer.dictionary(entries)
        }
        let root = writer.array(elements)
        return writer.archive(root: root)
    }
}
