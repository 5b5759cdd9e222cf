public import FoundationEssentials
internal import Glibc

extension StoreLocation {
    /// The location of a file URL; the last component is the main file's name.
    public init(url: URL) {
        self.init(path: url.absoluteURL.path)
    }

    /// The main file as a file URL.
    public var url: URL { URL(filePath: path, directoryHint: .notDirectory) }

    /// The location of an absolute path; trailing and doubled slashes are ignored.
    package init(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        self.init(folder: "/" + parts.dropLast().joined(separator: "/"), name: parts.last.map(String.init) ?? "")
    }
}

/// The usual private locations of an app's store, for a caller that lists the previous ones.
extension StoreLocation {
    /// The store `<databaseName>.sqlite` in the application support folder of an app's container, where Core Data's
    /// container creates it on Apple's platforms; `container` is the folder above `Library`.
    public static func applicationSupport(databaseName: String, inContainer container: URL) -> StoreLocation {
        let folder = StoreLocation(url: container).path
        return StoreLocation(path: "\(folder)/Library/Application Support/\(databaseName).sqlite")
    }

    /// The store `<databaseName>.sqlite` in the folder `app` of the user's data: `$XDG_DATA_HOME`, or else
    /// `~/.local/share`.
    ///
    /// An empty or relative `$XDG_DATA_HOME` counts as unset, as its specification requires. Throws `notFound` if
    /// neither it nor `$HOME` is an absolute path.
    public static func applicationSupport(databaseName: String, app: String) throws(StoreError) -> StoreLocation {
        let data = try userData { name in getenv(name).flatMap { String(validatingCString: $0) } }
        return StoreLocation(path: "\(data)/\(app)/\(databaseName).sqlite")
    }

    /// The folder of the user's data, by the environment.
    static func userData(_ environment: (String) -> String?) throws(StoreError) -> String {
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") { return data }
        guard let home = environment("HOME"), home.hasPrefix("/") else {
            throw StoreError(.notFound, path: "", "cannot locate the user's data: set $XDG_DATA_HOME or $HOME")
        }
        return home + "/.local/share"
    }
}
