import Foundation
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreBackup

@Suite("Untrusted archives under kernel limits on time and memory")
struct ArchiveLimitsTests {
    /// Input that is expensive to refuse.
    struct Glutton: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A shell command that makes the file `archive` in its working folder, from `head` and `good`.
        let command: String

        init(_ name: String, _ command: String) {
            testDescription = name
            self.command = command
        }
    }

    private static let gluttons = [
        Glutton("half a gigabyte of zeroes", "{ cat head; head -c 536872448 /dev/zero; } | zstd -q -o archive"),
        Glutton("the same by gzip", "{ cat head; head -c 536872448 /dev/zero; } | gzip -1 > archive"),
        Glutton(
            "the largest window that zstd accepts",
            "{ cat head; head -c 300000000 /dev/urandom; } | zstd -q -1 --long=27 -o archive"
        ),
        Glutton(
            "a window larger than zstd accepts",
            "{ cat head; head -c 300000000 /dev/urandom; } | zstd -q -1 --long=31 -o archive"
        ),
        Glutton("a manifest of brackets", "{ cat brackets; head -c 16776192 /dev/zero | tr '\\0' '['; } > archive"),
        Glutton("a manifest of numbers", "{ cat brackets; printf '['; yes 1, | head -c 16776191; } > archive"),
        Glutton("a manifest of objects", "{ cat brackets; printf '['; yes '{},' | head -c 16776191; } > archive"),
        Glutton("a manifest of names", "{ cat brackets; printf '{'; yes '\"a\":1,' | head -c 16776191; } > archive"),
        Glutton("empty frames without an end", "yes 'KLUv/SAAAQAA' | head -n 4000000 | base64 -d > archive"),
        Glutton("a hundred thousand headers", "for i in $(seq 300); do cat good; done > archive"),
    ]

    @Test("An expensive input is refused within ten seconds of CPU time and 256 MiB", arguments: gluttons)
    func glutton(glutton: Glutton) throws {
        let folder = try ScratchFolder()
        try folder.write(
            "head",
            HostileArchiveTests.archive(storeNamed: "s", members: [("s", 1 << 29)], withContent: false)
                + header("s", 1 << 29)
        )
        try folder.write("brackets", header("manifest.json", 16_776_192))
        try folder.write("good", HostileArchiveTests.archive(storeNamed: "s", members: [("s", 1)]))
        #expect(try Program("sh", ["-c", "cd '\(folder.path)' && \(glutton.command)"]).status == 0)
        try expectRefusal(in: folder)
    }

    @Test("Every other attack is refused within the same limits", arguments: Attack.all)
    func attack(attack: Attack) throws {
        let folder = try ScratchFolder()
        try folder.write("archive", attack.archive())
        try expectRefusal(in: folder)
    }

    @Test(
        "Reading an endless stream stops at a limit",
        arguments: ["cat /dev/zero", "yes 'KLUv/SAAAQAA' | base64 -d"]
    )
    func endless(program: String) throws {
        let folder = try ScratchFolder()
        let place = try folder.directory.createDirectory("place", mode: 0o700)
        let run = try ConfinedTool(["restore", "-", place.path], pipe: program)
        #expect([12, 14].contains(run.status), "it ended with \(run.status)")
        #expect(try place.entries().isEmpty)
    }

    @Test("A legitimate archive unpacks under the kernel limits")
    func baseline() throws {
        let (world, archive) = try BackupWorld.small()
        let place = try world.archives.directory.createDirectory("place", mode: 0o700)
        #expect(try ConfinedTool(["restore", archive.path, place.path]).status == 0)
        #expect(try place.entries() == ["store.sqlite"])
    }

    private func header(_ name: String, _ size: Int64) -> [UInt8] {
        var tar = HandMadeTar()
        tar.add(name, size: size)
        return tar.bytes
    }

    private func expectRefusal(in folder: ScratchFolder) throws {
        let place = try folder.directory.createDirectory("place", mode: 0o700)
        let before = try folder.directory.entries()
        let run = try ConfinedTool(["restore", folder.location("archive").path, place.path])
        #expect([12, 13, 14].contains(run.status), "it ended with \(run.status)")
        #expect(try place.entries().isEmpty)
        #expect(try folder.directory.entries() == before)
    }
}
