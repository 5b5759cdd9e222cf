import Glibc
import ManagedObjectGeneration
import SafeFiles
import SystemPackage

/// Writes the classes of each model to its file; the folders must exist.
func generate(_ models: [(path: String, output: FilePath)]) throws {
    let members = try models.map { model in
        do {
            return try TargetModels.Member(path: model.path)
        } catch {
            throw Failure(message: "\(model.path): error: \(error)")
        }
    }
    for (model, text) in zip(models, try TargetModels(members).texts) {
        let folder = try Directory.open(path: model.output.removingLastComponent().string)
        try folder.replace(model.output.lastComponent?.string ?? "", with: Array(text.utf8), mode: 0o644)
    }
}

/// A message that the build shows as an error of a file.
struct Failure: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}

func complain(_ message: String) {
    let line = Array((message + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
}

// The plugin GenerateManagedObjects starts this program with all models of a target.
let arguments = Array(CommandLine.arguments.dropFirst())
guard !arguments.isEmpty, arguments.count.isMultiple(of: 2) else {
    complain("usage: generate-managed-objects MODEL OUTPUT [MODEL OUTPUT ...]")
    exit(2)
}
do {
    let pairs = stride(from: 0, to: arguments.count, by: 2)
    try generate(pairs.map { (arguments[$0], FilePath(arguments[$0 + 1])) })
} catch let failure as Failure {
    complain(failure.message)
    exit(1)
} catch {
    complain("error: \(error)")
    exit(1)
}
