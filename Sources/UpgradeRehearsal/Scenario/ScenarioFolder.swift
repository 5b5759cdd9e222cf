import SafeFiles

/// Finds the scenarios below a folder.
public enum ScenarioFolder {
    /// Folders within folders, at most.
    private static let greatestDepth = 16

    /// The paths of every scenario's file below a folder, sorted, without recipes.
    public static func files(in folder: String) throws -> [String] {
        do {
            return try files(in: Directory.open(path: folder), named: folder, depth: 0)
        } catch let error as FileError {
            throw ScenarioError(path: folder, position: nil, "the folder cannot be read (\(error))")
        }
    }

    private static func files(in directory: Directory, named path: String, depth: Int) throws -> [String] {
        guard depth < greatestDepth else { return [] }
        var result: [String] = []
        for name in try directory.entries().sorted() where !name.hasPrefix(".") {
            let kind = try directory.status(of: name)?.kind
            let below = path.hasSuffix("/") ? path + name : path + "/" + name
            if kind == .directory {
                result += try files(in: directory.openDirectory(name), named: below, depth: depth + 1)
            } else if kind == .regular, name.hasSuffix(".yaml"), name != "recipe.yaml" {
                result.append(below)
            }
        }
        return result
    }
}
