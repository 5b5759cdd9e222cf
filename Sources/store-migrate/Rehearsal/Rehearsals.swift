import FoundationEssentials
import StoreMigration
import UpgradeRehearsal

/// The files that `rehearse` reads and writes outside its scratch folders.
enum Rehearsals {
    static let defaultFile = PathArgument(argument: "upgrade.yaml") ?? .currentFolder
    private static let defaultStoreName = "Model.sqlite"

    /// The scenario in a file, or those in a folder.
    static func scenarios(at path: PathArgument) throws -> [Scenario] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder) else {
            throw missing("there is no scenario", path)
        }
        guard isFolder else { return [try Scenario(file: path.text)] }
        let files = try ScenarioFolder.files(in: path.text)
        guard !files.isEmpty else { throw missing("the folder contains no scenario (*.yaml)", path) }
        return try files.map { try Scenario(file: $0) }
    }

    static func write(_ report: JUnitReport, to file: PathArgument) throws {
        do { try report.write(to: file.url) } catch {
            throw refusal(error, file, "Name a file in a folder that this user can write to.")
        }
    }

    static func writeTemplate(to file: PathArgument, storeName: String?) throws {
        do {
            try ScenarioTemplate.write(to: file.url, storeName: storeName.map(fileName) ?? defaultStoreName)
        } catch {
            throw refusal(error, file, "Name a file that does not exist, in a folder that this user can write to.")
        }
    }

    /// The command that runs a scenario.
    static func command(for file: PathArgument) -> String { "store-migrate rehearse " + ShellWord.quoted(file.text) }

    private static func fileName(_ name: String) -> String { name.contains(".") ? name : name + ".sqlite" }

    private static func missing(_ message: String, _ path: PathArgument) -> Failure {
        Failure(outcome: .nothingFound, message: message, path: path.path, advice: "Check the path.")
    }

    private static func refusal(_ error: any Error, _ file: PathArgument, _ advice: String) -> Failure {
        Failure(outcome: .notWritable, message: "\(error)", path: file.path, advice: advice)
    }
}
