import SafeFiles

extension Scratch {
    /// The paths in a folder below the root that are not allowed.
    func surplus(in folder: String, isAllowed: (String) -> Bool) throws -> [String] {
        try root.openDirectory(folder).entries().filter { !isAllowed($0) }.map { "\(folder)/\($0)" }
    }

    /// Objections to these, and to temporary files.
    func objections(toSurplus surplus: [String]) throws -> [String] {
        let left = try surplus + self.surplus(in: "tmp") { _ in false }
        return left.isEmpty ? [] : ["left behind: \(left.sorted().joined(separator: ", "))"]
    }
}
