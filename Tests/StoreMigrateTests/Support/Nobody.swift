import FoundationEssentials
import SafeFiles

/// An unprivileged user: by default `nobody` when the tests run as root, otherwise the user of the tests.
struct Nobody {
    private static let isNeeded = ProcessIdentity.effectiveUser == 0

    private let scratch: Scratch
    private let number: UInt32

    /// Gives that user access to the scratch folder.
    init(_ scratch: Scratch, number: UInt32 = 65_534) throws {
        self.scratch = scratch
        self.number = number
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
    }

    /// Creates a folder that belongs to that user.
    func folder(_ name: String) throws -> String {
        let path = try scratch.folder(name)
        if Self.isNeeded {
            try FileManager.default.setAttributes(
                [.ownerAccountID: number, .groupOwnerAccountID: number],
                ofItemAtPath: path
            )
        }
        return path
    }

    /// Runs the tool as that user.
    func run(_ arguments: [String], temporary: String? = nil) async throws -> Tool.Run {
        var environment = ["HOME": scratch.path]
        // The temporary folder of the tests may be closed to other users.
        if let temporary { environment["TMPDIR"] = temporary }
        return try await Tool.run(command: prefix + [try Tool.path] + arguments, environment: environment)
    }

    /// Runs a shell command as that user.
    func shell(_ command: String) async throws {
        let run = try await Tool.run(command: prefix + ["bash", "-c", command])
        guard run.status == 0 else { throw Tool.Failure(words: [command], status: "\(run.status)", errors: run.errors) }
    }

    private var prefix: [String] {
        guard Self.isNeeded else { return [] }
        return ["setpriv", "--reuid=\(number)", "--regid=\(number)", "--clear-groups"]
    }
}
