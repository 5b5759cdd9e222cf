import Foundation
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The migration journal")
struct MigrationJournalTests {
    private static let records: [JournalRecord] = [
        .begin(
            JournalRecord.RunIdentity(
                transaction: "0123456789abcdef0123456789abcdef",
                old: .oldSample,
                oldIdentity: FileIdentity(device: 1, inode: 2),
                new: .newSample,
                policy: .fence
            )
        ),
        .nest(FileIdentity(device: 1, inode: 3)),
        .fenced,
        .proved(digest: "abc"),
    ]

    private func journal() throws -> ScratchFolder {
        let scratch = try ScratchFolder()
        var journal = try MigrationJournal(in: scratch.directory)
        for record in Self.records { try journal.append(record) }
        return scratch
    }

    @Test("Journal records are read back unchanged")
    func roundTrip() throws {
        let scratch = try journal()
        #expect(try MigrationJournal.records(in: scratch.directory) == Self.records)
        #expect(try MigrationJournal(in: scratch.directory).records == Self.records)
    }

    @Test(
        "A record with a file name that leads out of its folder, or that no file can have, is damage",
        arguments: ["../s.db", "", ".", "..", "a/b", "a\u{0}b"]
    )
    func invalidName(_ name: String) throws {
        let scratch = try journal()
        let other = StoreLocation(folder: "/old", name: name)
        let forged: [JournalRecord] = [
            .retired(to: name), .base(JournalRecord.BaseFile(name: name, digest: "abc")),
            .begin(
                JournalRecord.RunIdentity(
                    transaction: "0123456789abcdef0123456789abcdef",
                    old: other,
                    oldIdentity: FileIdentity(device: 1, inode: 2),
                    new: .newSample,
                    policy: .fence
                )
            ),
        ]
        for record in forged {
            let folder = try ScratchFolder()
            try folder.write(MigrationJournal.name, scratch.bytes(MigrationJournal.name))
            var journal = try MigrationJournal(in: folder.directory)
            try journal.append(record)
            let error = try #require(throws: MigrationError.self) {
                try MigrationJournal.records(in: folder.directory)
            }
            #expect(error.outcome == .foundButUnreadable)
        }
    }

    @Test("A tail torn at any byte is ignored, and writing continues after the last complete record")
    func tornTail() throws {
        let whole = try journal().bytes(MigrationJournal.name)
        let ends = whole.indices.filter { whole[$0] == 0x0A }.map { $0 + 1 }
        for length in 0..<whole.count {
            let scratch = try ScratchFolder()
            try scratch.write(MigrationJournal.name, Array(whole.prefix(length)))
            let survivors = ends.count { $0 <= length }
            var journal = try MigrationJournal(in: scratch.directory)
            #expect(journal.records == Array(Self.records.prefix(survivors)), "cut after byte \(length)")
            try journal.append(.rolledBack)
            let after = try MigrationJournal.records(in: scratch.directory)
            #expect(after == Array(Self.records.prefix(survivors)) + [.rolledBack], "cut after byte \(length)")
        }
    }

    @Test("A flipped bit is damage, except in the last record, which counts as torn")
    func flippedBit() throws {
        let whole = try journal().bytes(MigrationJournal.name)
        let ends = whole.indices.filter { whole[$0] == 0x0A }.map { $0 + 1 }
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 0x04
            let scratch = try ScratchFolder()
            try scratch.write(MigrationJournal.name, bytes)
            let survivors = ends.count { $0 <= index }
            guard survivors == Self.records.count - 1 else {
                #expect(throws: MigrationError.self, "bit of byte \(index)") {
                    try MigrationJournal.records(in: scratch.directory)
                }
                #expect(throws: MigrationError.self) { try MigrationJournal(in: scratch.directory) }
                #expect(try scratch.bytes(MigrationJournal.name) == bytes)
                continue
            }
            let records = try MigrationJournal.records(in: scratch.directory)
            #expect(records == Array(Self.records.prefix(survivors)), "bit of byte \(index)")
        }
    }

    private static func publishing(_ files: NameTable<FileIdentity>) -> JournalRecord {
        .publishing(
            JournalRecord.Publication(
                main: FileIdentity(device: 1, inode: 2),
                externalFiles: files,
                oldToken: FileToken(main: nil, writeAheadLog: nil, journal: nil),
                digest: "d",
                size: 1,
                modified: nil
            )
        )
    }

    @Test(
        "External files of any name are written like a coder's JSON, and read back",
        arguments: [0, 1, 7]
    )
    func externalFiles(_ count: Int) throws {
        let names = ["a", "\"externalFiles\":{}", "\\", "\u{1}\n\t", "é\u{1F4C5}", "}", ",{:"]
        let files = NameTable(
            names.prefix(count).enumerated().map { ($0.element, FileIdentity(device: .max, inode: UInt64($0.offset))) }
        )
        let record = Self.publishing(files)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]

        let text = try record.encoded(after: 0)

        #expect(try JSONDecoder().decode(JournalRecord.self, from: Data(text)) == record)
        #expect(JournalRecord(decoding: text) == record)
        // The format of earlier versions.
        #expect(try JournalRecord(decoding: Array(encoder.encode(record))) == record)
        let scratch = try ScratchFolder()
        var journal = try MigrationJournal(in: scratch.directory)
        for record in [record, .fenced, record] { try journal.append(record) }
        #expect(try MigrationJournal.records(in: scratch.directory) == [record, .fenced, record])
    }

    /// The members of a file's identity, and of a store's token, as journals have them.
    private static let identity = #"{"device":1,"inode":2}"#
    private static let store = #"{"folder":"/a","name":"s.db"}"#
    private static let oldState = #"{"digest":"d","takenAt":3,"token":{}}"#

    @Test(
        "Every kind of record is read from the form that every version writes, and written in it",
        arguments: [
            #"{"aside":{"_0":\#(identity)}}"#, #"{"archived":{"_0":{"digest":"d","path":"/a"}}}"#,
            #"{"base":{"_0":{"digest":"d","name":"b"}}}"#,
            #"{"begin":{"_0":{"new":\#(store),"old":\#(store),"oldIdentity":\#(identity),"policy":"fence","transaction":"t"}}}"#,
            #"{"choosing":{"_0":{"identities":{},"policies":{},"policy":"rollback","source":"scan"}}}"#,
            #"{"done":{"_0":{"isFenced":true,"new":\#(identity),"oldState":\#(oldState)}}}"#, #"{"fenced":{}}"#,
            #"{"merged":{"epoch":"e"}}"#,
            #"{"merging":{"_0":{"epoch":"e","from":\#(store),"into":\#(store)}}}"#, #"{"migrated":{}}"#,
            #"{"nest":{"_0":\#(identity)}}"#, #"{"proved":{"digest":"d"}}"#, #"{"published":{"_0":\#(identity)}}"#,
            #"{"publishing":{"_0":{"externalFiles":{},"main":\#(identity),"oldToken":{}}}}"#, #"{"removed":{}}"#,
            #"{"renewed":{"_0":\#(oldState)}}"#,
            #"{"replacing":{"_0":{"externalFiles":{},"main":\#(identity),"oldToken":{}}}}"#, #"{"restored":{}}"#,
            #"{"retired":{"to":"r"}}"#, #"{"retiring":{"to":"r"}}"#, #"{"retiring":{"isLogged":true,"to":"r"}}"#,
            #"{"rolledBack":{}}"#, #"{"unfenced":{}}"#, #"{"unmerged":{"epoch":"e"}}"#, #"{"unshared":{}}"#,
            #"{"unsharing":{"transaction":"t"}}"#, #"{"voided":{"because":"b"}}"#,
        ]
    )
    func form(_ text: String) throws {
        let record = try JSONDecoder().decode(JournalRecord.self, from: Data(text.utf8))
        #expect(try String(decoding: record.encoded(after: 0), as: UTF8.self) == text)
    }

    @Test(
        "A record of no kind, of an unknown kind, of two kinds or without its members is refused",
        arguments: [
            "{}", #"{"later":{}}"#, #"{"fenced":{},"removed":{}}"#, #"{"fenced":true}"#, #"{"proved":{}}"#,
            #"{"nest":{"0":{"device":1,"inode":2}}}"#, #"{"retiring":{"isLogged":true}}"#, "[]", #""fenced""#,
        ]
    )
    func refusedForm(_ text: String) {
        #expect(JournalRecord(decoding: Array(text.utf8)) == nil)
    }

    @Test("The names of external files are kept until the run ends", arguments: [JournalRecord.rolledBack, .restored])
    func filesOfEndedRuns(_ end: JournalRecord) throws {
        let begin = try #require(Self.records.first { if case .begin = $0 { true } else { false } })
        let files = Self.publishing(["a": FileIdentity(device: 1, inode: 2)])
        let scratch = try ScratchFolder()
        var journal = try MigrationJournal(in: scratch.directory)
        for record in [begin, files, end, begin, files] { try journal.append(record) }
        let expected = [begin, Self.publishing([:]), end, begin, files]
        #expect(journal.records == expected)
        #expect(try MigrationJournal.records(in: scratch.directory) == expected)
    }

    @Test("A journal with a hundred thousand external files is read back")
    func manyExternalFiles() throws {
        let names = (0..<100_000).map { "0F4C5E1A-0000-4000-8000-\(String(1_000_000_000_000 + $0))" }
        let record = Self.publishing(
            NameTable(names.lazy.map { ($0, FileIdentity(device: 64_769, inode: 123_456_789)) })
        )
        let scratch = try ScratchFolder()
        var journal = try MigrationJournal(in: scratch.directory)
        try journal.append(record)
        try journal.append(.fenced)
        #expect(try MigrationJournal.records(in: scratch.directory) == [record, .fenced])
    }

    @Test("A tail longer than any record is damage, and is not read")
    func junk() throws {
        let scratch = try journal()
        let file = try scratch.directory.openFile(MigrationJournal.name, for: .writing)
        try file.truncate(to: 200 << 20)
        #expect(throws: MigrationError.self) { try MigrationJournal.records(in: scratch.directory) }
        #expect(throws: MigrationError.self) { try MigrationJournal(in: scratch.directory) }
        #expect(try file.status().size == 200 << 20)
    }

    @Test("The journal's checksum is CRC-32C")
    func checksum() {
        #expect(CRC32C.checksum(of: Array("123456789".utf8)) == 0xE306_9283)
    }
}
