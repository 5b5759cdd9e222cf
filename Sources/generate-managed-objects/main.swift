import Glibc
import ManagedObjectGeneration
import SafeFiles
import SystemPackage

/// Writes the classes of a model to a file; the folder must exist.
func generate(from model: String, to output: FilePath) throws {
    let source = try ModelSource(path: model)
    let generated = ManagedObjectSource(
        model: source.model,
        annotations: source.annotations,
        origin: FilePath(model).lastComponent?.string ?? model
    )
    let folder = try Directory.open(path: output.removingLastComponent().string)
    try folder.replace(output.lastComponent?.string ?? "", with: Array(generated.text.utf8), mode: 0o644)
}

func complain(_ message: String) {
    let line = Array((message + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
}

// The plugin GenerateManagedObjects starts this program.
guard CommandLine.arguments.count == 3 else {
    complain("usage: generate-managed-objects MODEL OUTPUT")
    exit(2)
}
do {
    try generate(from: CommandLine.arguments[1], to: FilePath(CommandLine.arguments[2]))
} catch {
    // The build shows it as an error of the model's file.
    complain("\(CommandLine.arguments[1]): error: \(error)")
    exit(1)
}
