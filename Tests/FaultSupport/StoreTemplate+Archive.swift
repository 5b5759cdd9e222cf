import Foundation
import SafeFiles

extension StoreTemplate {
    /// Objections to an archive that should contain this store; `tar`, `zstd` and `sqlite3` read it.
    func objections(toArchive path: String, _ scratch: Scratch) throws -> [String] {
        let place = try TemporaryDirectory(prefix: "unpacked", in: scratch.privatePath)
        let tar = Command(
            executable: "/usr/bin/tar",
            arguments: ["--use-compress-program=zstd", "-xf", path, "-C", place.directory.path],
            environment: ["PATH": "/usr/bin:/bin"]
        )
        let output = scratch.privatePath + "/tar"
        guard try tar.run(output: output, deadline: Deadline(after: .seconds(60))) == .exited(0) else {
            return ["the archive is not whole"]
        }
        let found = try PlainStore(place.directory.path + "/" + name).content(withoutFence: false)
        return try (found == content ? [] : ["the store in the archive differs"])
            + externalFilesLost(in: place.directory).map { "an external file in the archive differs: \($0)" }
    }

    /// Objections to every archive in a folder and to other files there; a kill may leave a folder of ours.
    func objections(
        toArchivesIn folder: Directory,
        isTidy: Bool,
        _ scratch: Scratch
    ) throws -> (count: Int, objections: [String]) {
        let names = try folder.entries()
        let archives = names.filter { $0.hasSuffix(".tar.zst") }
        let surplus = names.filter { $0.hasPrefix(".store-migrate-backup") }
        return (
            archives.count,
            try archives.flatMap { try objections(toArchive: folder.path + "/" + $0, scratch) }
                + (isTidy && !surplus.isEmpty ? ["left behind: \(surplus)"] : [])
        )
    }
}
