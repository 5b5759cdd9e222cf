import Foundation
import Glibc
import TestSupport

extension WalkWorld {
    /// The path of a program, which is written when a command first needs it.
    func path(of program: WalkProgram) throws -> String {
        let folder = scratch.path + "/programs"
        let path = folder + "/" + program.rawValue
        guard access(path, F_OK) != 0 else { return path }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // A program that root starts runs as an unprivileged user, who needs access to it.
        for folder in [scratch.privatePath, scratch.path, folder] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        }
        // A child process writes the file: a descriptor of this process could be inherited, and exec would fail.
        let write = #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#
        let (status, output) = try ChildProgram.run(["sh", "-c", write, "sh", program.script, path])
        guard status == 0 else { throw UnharmedRunFailure(name: "sh", objections: [path], output: output) }
        shell.append("mkdir -p programs; cat > \(relative(path)) <<'END'; chmod 755 \(relative(path))")
        shell += ["#!/bin/sh", program.script, "END"]
        return path
    }

    /// The content and mode of every file of the walk, to prove that a command changes nothing.
    ///
    /// Nil for a command that may change something, and where other programs may.
    func fingerprint(before call: WalkStep.ToolCall) throws -> [String: Int]? {
        guard call.mustChangeNothing, call.harm == .none, call.liveWriter == nil, holders.isEmpty else { return nil }
        // A share finishes an interrupted run before it asks.
        if call.isVetoed, !interrupted.isDisjoint(with: call.places) { return nil }
        return try fingerprint()
    }

    private func fingerprint() throws -> [String: Int] {
        var files: [String: Int] = [:]
        // SQLite makes the index of a log, and an empty log, also for readers.
        for path in try scratch.listing() where !path.hasPrefix("tmp/") && !path.hasSuffix("-shm") {
            var hasher = Hasher()
            var status = stat()
            guard lstat(scratch.path + "/" + path, &status) == 0 else { continue }
            hasher.combine(status.st_mode)
            if !path.hasSuffix("/") {
                let bytes = FileManager.default.contents(atPath: scratch.path + "/" + path) ?? Data()
                if bytes.isEmpty, path.hasSuffix("-wal") { continue }
                bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            }
            files[path] = hasher.finalize()
        }
        return files
    }

    /// What a command changed that may change nothing.
    func unwantedChanges(
        by call: WalkStep.ToolCall,
        _ answer: Answer,
        _ files: [String: Int]?,
        _ before: [StoreContent?]
    ) throws -> [(String, String)] {
        guard let files else { return [] }
        var changed: [String]
        if call.isVetoed, answer.ending == .exited(0) {
            // A share with nothing to do asks nothing.
            changed = places.indices
                .filter {
                    contents[$0]?.digest != before[$0]?.digest || contents[$0]?.refusal != before[$0]?.refusal
                }
                .map(name)
            if let outcome = answer.object("summary")?["outcome"] as? String, outcome != "alreadyShared" {
                changed.append("what it calls \(outcome)")
            }
        } else {
            let present = try fingerprint()
            changed = Set(files.keys).union(present.keys).filter { files[$0] != present[$0] }.sorted()
        }
        guard !changed.isEmpty else { return [] }
        let claim = call.isVetoed ? "\(call.verb) was declined" : "\(call.verb) -n may write nothing"
        return [("L5", "\(claim), and changed \(changed.joined(separator: ", "))")]
    }
}
