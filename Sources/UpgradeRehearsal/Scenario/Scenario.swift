import SafeFiles
package import StoreFixtures

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

/// A store of a scenario: its name, its path, and what it is made from before the first step.
package struct ScenarioStore: Sendable {
    package let name: String
    /// Relative to the scratch folder.
    package let place: String
    /// Nil for a path without a store.
    package let source: StoreSource?
    package let position: RecipePosition
}

/// What a store is made from.
package enum StoreSource: Sendable {
    case recipe(StoreRecipe)
    /// A main file, copied with its sidecars and external files.
    case file(String)
}

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

/// A mistake in a scenario, or in a recipe that it names, with its position.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file; empty when the text came from elsewhere.
    public let path: String
    /// Counted from 1; nil when it is about the file as a whole.
    public let line: Int?
    /// Counted from 1; nil when it is about the file as a whole.
    public let column: Int?
    /// What is wrong and what would be right, without a final full stop.
    public let message: String

    package init(path: String, position: RecipePosition?, _ message: String) {
        self.path = path
        line = position?.line
        column = position?.column
        self.message = message
    }

    init(_ error: RecipeError) {
        self.init(path: error.path, position: error.position, error.message)
    }

    /// In the form `file:line:column: message`, which editors understand.
    public var description: String {
        let place = [path, line.map { "\($0)" } ?? "", column.map { "\($0)" } ?? ""].filter { !$0.isEmpty }
        return (place.isEmpty ? "" : place.joined(separator: ":") + ": ") + message
    }
}

/// Why a rehearsal could not continue, for a reason outside the scenario.
public struct RehearsalFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What failed, and what to do where that is possible; a fragment without a final full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}
