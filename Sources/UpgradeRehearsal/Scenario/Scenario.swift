/// An upgrade path: stores, what is done with them by which processes, and what must hold afterwards.
///
/// It is read from YAML; `Fixtures/Scenarios/README.md` has the grammar. Reading a scenario reports every mistake that can
/// be found without running it.
public struct Scenario: Sendable {
    /// The file's name without `.yaml`.
    public let name: String
    /// The file; empty when the text came from elsewhere.
    public let path: String
    /// What it shows, in a sentence.
    public let about: String
    /// Labels of the published story that the scenario rehearses.
    public let story: [String]
    /// How long each process may take.
    package let deadline: Duration
    package let stores: [ScenarioStore]
    package let files: [FileChange]
    package let steps: [ScenarioStep]
    package let expectations: [Expectation]

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

    package init(
        name: String,
        path: String,
        about: String,
        story: [String],
        deadline: Duration,
        stores: [ScenarioStore],
        files: [FileChange],
        steps: [ScenarioStep],
        expectations: [Expectation]
    ) {
        self.name = name
        self.path = path
        self.about = about
        self.story = story
        self.deadline = deadline
        self.stores = stores
        self.files = files
        self.steps = steps
        self.expectations = expectations
    }
}

extension Scenario: Identifiable, CustomStringConvertible {
    /// The file, or the name of one that has none.
    public var id: String { path.isEmpty ? name : path }
    public var description: String { name }
}
