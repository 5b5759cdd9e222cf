// A program that is linked statically has no test library, and needs no cases.
#if canImport(Testing)
import SafeFiles
package import StoreAccess
import SystemPackage
import Testing

/// A file at a store's path that cannot be read as a store.
package struct RefusalCase: CustomTestStringConvertible, Sendable {
    package var testDescription: String
    package var reason: UnreadableStore.Reason
    package var make: @Sendable (ScratchFolder) throws -> Void

    private static let table = "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(20000)); CREATE INDEX i ON t(a);"

    package static let all = [
        Self(testDescription: "a folder", reason: .directory) {
            _ = try $0.directory.createDirectory("store.sqlite", mode: 0o755)
        },
        Self(testDescription: "a symbolic link", reason: .symbolicLink) {
            try $0.makeStore(table, as: "other")
            try FilePath($0.path + "/store.sqlite").makeSymbolicLink(to: "other")
        },
        Self(testDescription: "a FIFO", reason: .specialFile) { try FilePath($0.path + "/store.sqlite").makeFIFO() },
        Self(testDescription: "a hard link", reason: .hardLink) {
            try $0.makeStore(table)
            try FilePath($0.path + "/other").makeHardLink(to: $0.path + "/store.sqlite")
        },
        Self(testDescription: "a log that is a symbolic link", reason: .symbolicLink) {
            try $0.makeStore(table)
            try $0.write("real", [UInt8](repeating: 1, count: 64))
            try FilePath($0.path + "/store.sqlite-wal").makeSymbolicLink(to: "real")
        },
        Self(testDescription: "a text", reason: .notADatabase) {
            try $0.write("store.sqlite", Array(String(repeating: "words\n", count: 200).utf8))
        },
        Self(testDescription: "one byte", reason: .notADatabase) { try $0.write("store.sqlite", [83]) },
        Self(testDescription: "a header alone", reason: .truncated) {
            try $0.makeStore(table, as: "whole")
            try $0.write("store.sqlite", Array($0.bytes("whole").prefix(100)))
        },
        Self(testDescription: "the last page cut off", reason: .truncated) {
            try $0.makeStore(table, as: "whole")
            try $0.write("store.sqlite", Array($0.bytes("whole").dropLast(4096)))
        },
        Self(testDescription: "half of the last page cut off", reason: .truncated) {
            try $0.makeStore(table, as: "whole")
            try $0.write("store.sqlite", Array($0.bytes("whole").dropLast(2048)))
        },
        Self(testDescription: "an impossible page size", reason: .notADatabase) {
            try $0.makeStore(table)
            try $0.overwrite("store.sqlite", at: 16, [0x0f, 0xff])
        },
        Self(testDescription: "the schema's page overwritten", reason: .damaged) {
            try $0.makeStore(table)
            try $0.overwrite("store.sqlite", at: 100, [UInt8](repeating: 0xee, count: 3000))
        },
        Self(testDescription: "cut off, with a log that lacks the rest", reason: .truncated) {
            try $0.makeStore(table, as: "whole")
            try $0.write("store.sqlite", Array($0.bytes("whole").dropLast(4096)))
            try $0.write("store.sqlite-wal", [UInt8](repeating: 0, count: 64))
        },
    ]
}
#endif
