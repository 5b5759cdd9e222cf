import FoundationEssentials
import StoreBackup
import StoreFormat
import StoreMigration

/// The state of an archive after a verb.
enum BackupState: String {
    case made
    case listed
    case good
    case bad
    case kept
    case removed
    case leftAlone
}

extension BackupReport {
    /// The new archive as an object.
    var record: JSONValue { .backup(path, .made, bytes: bytes, time: nil, manifest, problem: nil) }
}

extension KeptBackup {
    /// The archive and its state as an object.
    func record(in folder: String, _ state: BackupState) -> JSONValue {
        .backup(folder + "/" + name, state, bytes: bytes, time: time, manifest, problem: problem)
    }
}

extension RestoreOutcome {
    /// The result of restoring `archive`, as an object.
    func record(of archive: String) -> JSONValue {
        .object([
            ("type", .string("restored")), ("archive", .string(archive)), ("path", .string(path)),
            ("tx", .optional(transaction)), ("store", .string(manifest.store.name)),
            ("uuid", .optional(manifest.store.uuid)), ("objects", .integer(manifest.store.objectCount)),
            ("digest", .string(manifest.store.digest)), ("keptAside", .optional(keptAside)),
        ])
    }
}

extension JSONValue {
    fileprivate static func backup(
        _ path: String,
        _ state: BackupState,
        bytes: Int64,
        time: Int64?,
        _ manifest: BackupManifest?,
        problem: String?
    ) -> JSONValue {
        let store = manifest?.store
        return .object([
            ("type", .string("backup")), ("path", .string(path)), ("state", .string(state.rawValue)),
            ("bytes", .integer(bytes)),
            ("time", .optional(time.flatMap { DateText.text(secondsSince1970: $0) })),
            ("store", .optional(store?.name)), ("kind", .optional(store?.kind.rawValue)),
            ("uuid", .optional(store?.uuid)), ("objects", .optional(store?.objectCount)),
            ("digest", .optional(store?.digest)), ("problem", .optional(problem)),
        ])
    }
}
