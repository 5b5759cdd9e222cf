import Foundation
import PackagePlugin

/// Writes a Swift class for each entity of the models in a target, before the target is compiled.
///
/// A model is a `.xcdatamodeld` or `.xcdatamodel`, a `.momd` or `.mom`, a recipe whose name ends in `.model.yaml`, or a Core
/// Data store of any name; other SQLite files have no classes. The target must depend on the product `ManagedObjects`.
@main
struct GenerateManagedObjects: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let tool = try context.tool(named: "generate-managed-objects").url
        let models = try Self.models(in: target.directoryURL)
        guard !models.isEmpty else {
            Diagnostics.warning("the target \(target.name) has no model for GenerateManagedObjects")
            return []
        }
        let outputs = models.map { model in
            context.pluginWorkDirectoryURL.appendingPathComponent(Self.outputName(of: model, in: target.directoryURL))
        }
        let byOutput = Dictionary(grouping: zip(models, outputs), by: \.1)
        for pairs in byOutput.values where pairs.count > 1 {
            Diagnostics.error(
                "\(pairs[0].0.path) and \(pairs[1].0.path) would have the same file of classes: rename one of them"
            )
            return []
        }
        // One command for all: it detects a class that two models have.
        return [
            .buildCommand(
                displayName: "Writing the classes of \(models.map(\.lastPathComponent).joined(separator: ", "))",
                executable: tool,
                arguments: zip(models, outputs).flatMap { [$0.path, $1.path] },
                inputFiles: models.flatMap(Self.files),
                outputFiles: outputs
            )
        ]
    }

    /// The path below the target in one name, because the files of a module must have different names.
    private static func outputName(of model: URL, in folder: URL) -> String {
        let components = model.pathComponents.dropFirst(folder.pathComponents.count)
        return components.joined(separator: "-") + ".swift"
    }

    /// The models in a folder and its subfolders, without the versions inside of one.
    private static func models(in folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .flatMap { name in
                let entry = folder.appendingPathComponent(name)
                if isModel(entry) { return [entry] }
                // A store's external files are in a hidden folder.
                return isFolder(entry) && !name.hasPrefix(".") ? try models(in: entry) : []
            }
    }

    private static func isModel(_ entry: URL) -> Bool {
        if ["xcdatamodeld", "xcdatamodel", "momd", "mom"].contains(entry.pathExtension) { return true }
        return entry.lastPathComponent.hasSuffix(".model.yaml") || isDatabase(entry)
    }

    private static func isDatabase(_ entry: URL) -> Bool {
        guard !isFolder(entry), let file = try? FileHandle(forReadingFrom: entry) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }

    private static func isFolder(_ entry: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: entry.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The files whose changes make the classes out of date: a model's own, or a store and its log.
    private static func files(of model: URL) -> [URL] {
        guard isFolder(model) else {
            return [model, URL(fileURLWithPath: model.path + "-wal")]
                .filter { FileManager.default.fileExists(atPath: $0.path) }
        }
        return (FileManager.default.subpaths(atPath: model.path) ?? []).map { model.appendingPathComponent($0) }
            .filter { !isFolder($0) }
    }
}
