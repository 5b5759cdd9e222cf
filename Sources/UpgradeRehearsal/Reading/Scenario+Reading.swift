extension Scenario {
    /// Reads the scenario in a file.
    ///
    /// Throws ``ScenarioError``, with line and column of what is wrong.
    public init(file: String) throws {
        self = try ScenarioReader.scenario(inFile: file)
    }

    /// Reads a scenario from text; the paths of recipes in it are relative to the folder of `path`.
    ///
    /// Throws ``ScenarioError``, with line and column of what is wrong.
    public init(yaml: String, name: String, path: String = "") throws {
        self = try ScenarioReader.scenario(from: yaml, name: name, path: path)
    }

    /// Reads every scenario in a folder, those in its folders too, in the order of their paths: every file whose name ends
    /// in `.yaml` but `recipe.yaml`.
    ///
    /// A relative path is resolved against the folder of the calling source file. Throws ``ScenarioError`` for the first
    /// invalid scenario, and when there is none.
    public static func all(in folder: String, asking source: String = #filePath) throws -> [Scenario] {
        let isAbsolute = folder.hasPrefix("/")
        let base = source.lastIndex(of: "/").map { String(source[..<$0]) } ?? "."
        let path = isAbsolute ? folder : base + "/" + folder
        let files = try ScenarioFolder.files(in: path)
        guard !files.isEmpty else {
            throw ScenarioError(path: path, position: nil, "the folder contains no scenario, no file named *.yaml")
        }
        return try files.map { try Scenario(file: $0) }
    }
}
