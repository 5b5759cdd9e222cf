public import FoundationEssentials

extension StoreLocation {
    /// The place that a file URL names; the last component is the main file's name.
    public init(url: URL) {
        self.init(path: url.absoluteURL.path)
    }

    /// The main file as a file URL.
    public var url: URL { URL(filePath: path, directoryHint: .notDirectory) }

    /// The place that an absolute path names; slashes at the end and doubled ones are passed over.
    package init(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        self.init(folder: "/" + parts.dropLast().joined(separator: "/"), name: parts.last.map(String.init) ?? "")
    }
}
