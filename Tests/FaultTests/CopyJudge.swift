import FaultSupport
import Foundation
import SafeFiles

/// Judges a shell script that copies a file, for tests of the sweep itself.
struct CopyJudge: Judge {
    /// A copy that is written under a temporary name, flushed and renamed: sound at every call.
    static let sound =
        "dd if=\"$1/in\" of=\"$1/out.new\" bs=4096 conv=fsync 2>/dev/null && mv \"$1/out.new\" \"$1/out\""
    /// The same, with an fsync of the folder, and with the leftovers of an interrupted run removed.
    static let durable = "rm -f \"$1/out.new\" && " + sound + " && sync \"$1\""
    /// A copy in place: killed in the middle it leaves half a file.
    static let unsound = "dd if=\"$1/in\" of=\"$1/out\" bs=4096 2>/dev/null"
    private static let content = [UInt8](repeating: 7, count: 20_000)

    let script: String
    var name: String { "copying" }

    func command(_ scratch: Scratch) -> Command {
        Command(executable: "/bin/sh", arguments: ["-c", script, "sh", scratch.path])
    }

    func prepare(_ scratch: Scratch) throws { try scratch.root.replace("in", with: Self.content, mode: 0o600) }

    func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        let isThere = try scratch.root.status(of: "out") != nil
        let isWhole = try isThere && content(in: scratch) == Self.content
        return (isThere && !isWhole ? ["half a file"] : [])
            + (ending == .exited(0) && !isWhole ? ["a false success"] : [])
    }

    func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        try ending == .exited(0) && content(in: scratch) == Self.content ? [] : ["not copied"]
    }

    /// The content of the copy, which may have two names after a crash.
    private func content(in scratch: Scratch) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: scratch.path + "/out")))
    }
}
