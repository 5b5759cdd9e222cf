import Foundation
package import SafeFiles

extension Scratch {
    /// Opens a copy of a store with its journals, so that judging it changes nothing.
    package func withCopy<Value>(
        of name: String,
        in folder: Directory,
        _ body: (PlainStore) throws -> Value
    ) throws -> Value {
        let temporary = try TemporaryDirectory(prefix: "judged-copy", in: privatePath)
        for suffix in ["", "-wal", "-journal"] where try folder.status(of: name + suffix) != nil {
            // A copy need not be durable.
            try Data(folder.bytes(of: name + suffix))
                .write(to: URL(fileURLWithPath: temporary.directory.path + "/" + name + suffix))
        }
        return try body(PlainStore(temporary.directory.path + "/" + name))
    }
}
