import FoundationEssentials
import StoreMigration
import UpgradeRehearsal

/// The files that `rehearse` reads and writes outside its scratch folders.
enum Rehearsals {
    static let defaultFile = PathArgument(argument: "upgrade.yaml") ?? .currentFolder
    private static let defaultStoreName = "Model.sqlite"

    /// The scenarios that were found, and a report on each file without a valid one.
    struct Found {
        var scenarios: [Scenario] = []
        var invalid: [ScenarioReport] = []
    }

    /// The scenarios in files and folders; throws if no path leads to a file.
    ///
    /// Beside other scenarios a path without one is reported as an invalid scenario, so that the others run.
    static func scenarios(at paths: [PathArgument]) throws -> Found {
        var found = Found()
        var absent: [Failure] = []
        var present: [String] = []
        for path in paths {
            do { present += try files(at: path) } catch let failure as Failure where paths.count > 1 {
                absent.append(failure)
                found.invalid.append(ScenarioReport(missing: path.text, failure.message))
            }
        }
        if present.isEmpty, let failure = absent.first { throw failure }
        for file in present {
            do {
                found.scenarios.append(try Scenario(file: file))
            } catch let error as ScenarioError {
                found.invalid.append(ScenarioReport(invalid: file, error))
            }
        }
        return found
    }

    /// The path of a scenario, or those of the scenarios in a folder.
    private static func files(at path: PathArgument) throws -> [String] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder) else {
            throw missing("there is no scenario", path)
        }
        guard isFolder else { return [path.text] }
        let files = try ScenarioFolder.files(in: path.text)
        guard !files.isEmpty else { throw missing("the folder contains no scenario (*.yaml)", path) }
        return files
    }

    static func requireWritable(_ file: PathArgument) throws { try writing(file, JUnitReport.requireWritable) }

    static func write(_ report: JUnitReport, to file: PathArgument) throws { try writing(file, report.write) }

    private static func writing(_ file: PathArgument, _ body: (URL) throws -> Void) throws {
        do { try body(file.url) } catch let error as MigrationError { throw error } catch {
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
    static func command(for file: PathArgument) -> String {
        NextStep.commandLine(["store-migrate", "rehearse", file.text])
    }

    private static func fileName(_ name: String) -> String { name.contains(".") ? name : name + ".sqlite" }

    private static func missing(_ message: String, _ path: PathArgument) -> Failure {
        Failure(outcome: .nothingFound, message: message, path: path.path, advice: "Check the path.")
    }

    private static func refusal(_ error: any Error, _ file: PathArgument, _ advice: String) -> Failure {
        Failure(outcome: .notWritable, message: "\(error)", path: file.path, advice: advice)
    }
}
