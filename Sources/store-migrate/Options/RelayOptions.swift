import ArgumentParser
import ChangeRelay
import StoreFormat
import StoreMigration

/// The store that a relay belongs to, and how to open both.
struct RelayOptions: ParsableArguments {
    @OptionGroup var named: StoreArguments

    @OptionGroup var access: AccessOptions

    /// The named store, beside which the relay is.
    var store: PathArgument { get throws { try named.store } }

    /// The store's layout; throws when the path is not a readable store.
    func inspection(_ reporter: Reporter) throws -> StoreInspection {
        try access.layout(of: store.location, reporter)
    }

    /// The relay, created if missing; a process started as root becomes the store's owner first.
    func queue(_ reporter: Reporter) throws -> RelayQueue {
        _ = try inspection(reporter)
        let store = try store
        try ToolSurroundings.current.becomeOwner(of: store.url)
        return try RelayQueue(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }

    /// The relay, if there is one; creates nothing.
    func existingQueue(_ reporter: Reporter) throws -> RelayQueue? {
        _ = try inspection(reporter)
        return try RelayQueue.existing(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }
}

/// How many notices of a relay a verb reads.
struct RelayExtent: ParsableArguments {
    @Option(
        help: ArgumentHelp("How many at most, from the earliest.", valueName: "count"),
        transform: Self.count
    )
    var limit: Int?

    static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw ValidationError("write a number from 1 on") }
        return count
    }
}

/// Pending changes in preferences files of apps that did not use a relay.
struct LegacyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A preferences property list with pending changes of an app; may be repeated.",
            valueName: "file"
        )
    )
    var legacyDefaults: [PathArgument] = []

    @Option(help: ArgumentHelp("The key of the changes in a file; one for each file.", valueName: "key"))
    var legacyKey: [String] = []

    var imports: [LegacyDefaultsImport] {
        zip(legacyDefaults, legacyKey).map { LegacyDefaultsImport(file: $0.location, key: $1) }
    }

    /// Throws when the call and its configuration do not name a key for each file, or name a folder.
    func requireKeys() throws {
        if let folder = legacyDefaults.first(where: { StoreInspector.isFolder($0.path) }) {
            throw ValidationError("--legacy-defaults takes a file, and \(folder.text) is a folder")
        }
        guard legacyDefaults.count == legacyKey.count else {
            throw ValidationError("name a key with --legacy-key for each file that --legacy-defaults names")
        }
    }
}
