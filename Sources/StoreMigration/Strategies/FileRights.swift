import SafeFiles
import StoreStrategies
import SystemPackage

/// The mode and the group that a strategy sets for files.
struct FileRights {
    let mode: UInt32?
    let group: UInt32?

    init(_ treatment: StoreTreatment) {
        mode = treatment.mode
        group = treatment.group
    }

    /// Sets them on a file and reads them back; does nothing if no strategy sets any.
    func apply(to file: DurableFile) throws {
        guard mode != nil || group != nil else { return }
        if let group, try file.status().group != group {
            do {
                try file.setOwner(user: nil, group: group)
            } catch {
                switch error.errno {
                case .notPermitted: throw MigrationError.notGiven(to: group, path: file.path, error)
                // This system, or this container, does not map the group ID.
                case .invalidArgument:
                    throw StrategyError(
                        .invalidOption,
                        "there is no group \(group) here for \(DescriptionOption.posixGroup)"
                    )
                default: throw error
                }
            }
        }
        if let mode { try file.setMode(mode) }
        let status = try file.status()
        guard mode.map({ status.mode & 0o7777 == $0 }) ?? true, group.map({ status.group == $0 }) ?? true else {
            throw MigrationError(
                .verificationFailed,
                "a file did not keep the mode \(PosixMode.text(status.mode & 0o7777)) or the group \(status.group)",
                path: file.path,
                advice: "Check that the file system keeps modes and groups, and that this user belongs to the group."
            )
        }
    }
}
