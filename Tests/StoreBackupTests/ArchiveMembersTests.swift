import SafeFiles
import SystemPackage
import TestSupport
import Testing

@testable import StoreBackup

@Suite("The members of an archive")
struct ArchiveMembersTests {
    private typealias Member = (name: String, bytes: [UInt8])

    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// Writes an archive and returns its size.
    @discardableResult
    private func write(
        _ members: [Member],
        _ form: BackupForm,
        compressing: Bool = true,
        as name: String = "archive"
    ) throws -> Int64 {
        let file = try folder.directory.createFile(name, mode: 0o600)
        let writer = try ArchiveWriter(to: file, form: form, compressing: compressing)
        for member in members { try writer.add(member.name, member.bytes) }
        let bytes = try writer.finish()
        try file.close()
        return bytes
    }

    private func reader(_ limits: ArchiveLimits = ArchiveLimits(), of name: String = "archive") throws -> ArchiveReader
    {
        try ArchiveReader(ArchiveSource(folder.directory.openFile(name, for: .reading)), limits: limits)
    }

    /// Bytes that no compression makes shorter.
    private static func noise(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: Seed.current)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    @Test("The end of a file's name determines its form; .zip means the compressed one")
    func forms() {
        #expect(BackupForm.all.map(\.fileNameEnd) == [".tar.zst", ".tar.gz", ".tar", ".zip", ".zip"])
        #expect(BackupForm.all.allSatisfy { BackupForm($0.format, $0.compression) == $0 })
        #expect(BackupForm(.zip, .zstd) == nil)
        #expect(BackupForm(.zip)?.compression == .gzip && BackupForm(.pax)?.compression == .zstd)
        for form in BackupForm.all.dropLast() { #expect(BackupForm(fileName: "a" + form.fileNameEnd) == form) }
    }

    @Test("An archive is smaller than its members exactly if it is to be compressed", arguments: BackupForm.all)
    func compression(form: BackupForm) throws {
        let text = [UInt8](repeating: 0x41, count: 1 << 20)
        let members = [("a", text), ("b", text)]
        let compressed = try write(members, form, as: "compressed")
        let stored = try write(members, form, compressing: false, as: "stored")
        #expect(stored > 2 * text.count)
        #expect(compressed < text.count / 10 || form.compression == .none)
        #expect(compressed == stored || form.compression != .none)
        for name in ["compressed", "stored"] {
            let reader = try reader(of: name)
            for member in members {
                #expect(try reader.next() == .init(name: member.0, bytes: Int64(text.count)))
                #expect(try reader.content() == text)
            }
            #expect(try reader.next() == nil)
            #expect(try folder.directory.status(of: name)?.size == (name == "stored" ? stored : compressed))
        }
    }

    @Test("The content of a member is handed out once, and that of a skipped one never", arguments: BackupForm.all)
    func once(form: BackupForm) throws {
        try write([("a", Self.noise(3000)), ("b", Self.noise(300_000)), ("c", [7, 8])], form)
        let reader = try reader()
        #expect(try reader.content() == [])
        #expect(try reader.next()?.name == "a")
        #expect(try reader.content().count == 3000)
        #expect(try reader.content() == [])
        #expect(try reader.next()?.name == "b")
        #expect(try reader.next()?.name == "c")
        #expect(try reader.content() == [7, 8])
        #expect(try reader.next() == nil)
        #expect(try reader.content() == [])
    }

    @Test("Reading fails with tooLarge at the first byte above the limit for the archive")
    func limit() throws {
        try write([("a", Self.noise(1000)), ("b", Self.noise(1000))], .standard)
        var limits = ArchiveLimits()
        limits.ratio = 0
        for (most, isAccepted) in [(2000, true), (1999, false)] {
            limits.unquestionedBytes = Int64(most)
            let reader = try reader(limits)
            _ = try reader.next()
            #expect(try reader.content().count == 1000)
            _ = try reader.next()
            guard !isAccepted else {
                #expect(try reader.content().count == 1000)
                continue
            }
            let error = #expect(throws: BackupError.self) { try reader.content() }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test("The limit for a file depends on its whole size, not on the part that was read so far")
    func limitOfFile() throws {
        try write([("a", [UInt8](repeating: 0, count: 1 << 20) + Self.noise(1 << 20))], .standard)
        var limits = ArchiveLimits()
        limits.ratio = 2
        limits.unquestionedBytes = 0
        let reader = try reader(limits)
        _ = try reader.next()
        #expect(try reader.content().count == 2 << 20)
    }

    @Test("A member that shrinks while it is archived cannot be added, nor one on a full disk")
    func failures() throws {
        let shrunk = try ArchiveWriter(to: folder.directory.createFile("shrunk", mode: 0o600), form: .standard)
        let error = #expect(throws: BackupError.self) { try shrunk.add("a", bytes: 10) { _, _ in 9 } }
        #expect(error?.code == .failed && error?.message == "a shrank while it was archived")

        let system = RecordingFileSystem()
        let place = try Directory.open(path: folder.path, operations: system)
        let form = try #require(BackupForm(.pax, BackupForm.Compression.none))
        let full = try ArchiveWriter(to: place.createFile("full", mode: 0o600), form: form)
        system.failNext(with: .noSpace)
        let refusal = #expect(throws: FileError.self) {
            try full.add("a", bytes: 1 << 20) { buffer, _ in buffer.count }
        }
        #expect(refusal?.errno == .noSpace)
    }
}
