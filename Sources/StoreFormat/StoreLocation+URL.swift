public import FoundationEssentials

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
