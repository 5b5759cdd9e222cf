import ArgumentParser
import ChangeRelay
import StoreFormat

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
