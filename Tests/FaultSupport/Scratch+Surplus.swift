import SafeFiles

extension Scratch {
    /// What lies in a folder below the root that is not allowed to.
    func surplus(in folder: String, isAllowed: (String) -> Bool) throws -> [String] {
        try root.openDirectory(folder).entries().filter { !isAllowed($0) }.map { "\(folder)/\($0)" }
    }

    /// What there is to object to that, and to temporary files.
    func objections(toSurplus surplus: [String]) throws -> [String] {
        let left = try surplus + self.surplus(in: "tmp") { _ in false }
        return left.isEmpty ? [] : ["left behind: \(left.sorted().joined(separator: ", "))"]
    }
}
