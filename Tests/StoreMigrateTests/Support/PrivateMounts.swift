import SafeFiles
import Testing

/// Shell commands in a mount namespace of their own, whose mounts end with them.
enum PrivateMounts {
    private static let prefix =
        ["unshare", "--mount"] + (ProcessIdentity.effectiveUser == 0 ? [] : ["--map-root-user"]) + ["bash", "-c"]

    /// Runs a script in `folder`; `$TOOL` is the path of the tool.
    static func run(_ script: String, folder: String = "/") async throws -> Tool.Run {
        try await Tool.run(
            command: prefix + ["set -e; mount --make-rprivate /; " + script],
            environment: ["TOOL": try Tool.path],
            folder: folder
        )
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test only where a file system in memory can be mounted.
    static var mounts: ConditionTrait {
        .enabled("file systems can be mounted") {
            try await PrivateMounts.run("mount -t tmpfs none /mnt").status == 0
        }
    }
}
