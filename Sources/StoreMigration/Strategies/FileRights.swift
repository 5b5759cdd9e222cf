import SafeFiles
import StoreFormat
import StoreStrategies
import SystemPackage

/// The mode and the group that files get because a strategy said so.
struct FileRights {
    let mode: UInt32?
    let group: UInt32?

    /// Gives them to a file of ours, and reads them back.
    func apply(to file: DurableFile) throws {
        if let group {
            do {
                try file.setOwner(user: nil, group: group)
            } catch {
                guard error.errno == .notPermitted else { throw error }
                throw MigrationError(
                    .notWritable,
                    "the files cannot be given to the group \(group), of which this user is no member",
                    path: file.path,
                    advice: "Run as a member of the group, or name another one.",
                    underlyingError: error
                )
            }
        }
        if let mode { try file.setMode(mode) }
        let status = try file.status()
        guard mode.map({ status.mode & 0o7777 == $0 }) ?? true, group.map({ status.group == $0 }) ?? true else {
            throw MigrationError(
                .verificationFailed,
                "a file did not keep the mode \(PosixMode.text(status.mode & 0o7777)) or the group \(status.group)",
                path: file.path,
                advice: "Look at what the file system does with modes and groups."
            )
        }
    }
}
