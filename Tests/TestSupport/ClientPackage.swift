import Foundation
import Synchronization

/// A package of another team that depends on this one, built as its team would build it.
///
/// All of them share one folder of products: building this package takes minutes.
package struct ClientPackage {
    private static let scratch = Checkout.path + "/.build/strangers"

    /// One package is built at a time: the package manager waits for its lock without a deadline.
    private static let turn = Mutex(())

    private let folder: String

    /// A package in `folder`, with the versions of dependencies that are fetched already.
    package init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: Checkout.path + "/Package.resolved",
            toPath: folder + "/Package.resolved"
        )
    }

    /// Writes a file of the package, and the folders above it.
    package func write(_ path: String, _ text: String) throws {
        let file = URL(filePath: folder + "/" + path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Runs a command of the package manager, such as `build`, in the package.
    package func swift(
        _ command: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String) {
        let words =
            ["swift", command, "--package-path", folder, "--scratch-path", Self.scratch, "--force-resolved-versions"]
            + arguments
        // A client does not optimize this package's modules as `make verify` does.
        let environment = environment.merging(["STORE_MIGRATE_OPTIMIZED": ""]) { given, _ in given }
        return try Self.turn.withLock { _ in try ChildProgram.run(words, environment: environment) }
    }

    /// A program of the package, once it is built.
    package func program(_ name: String) -> String { Self.scratch + "/debug/" + name }

    /// Builds a program of the package and, if that succeeds, runs it; the output of both, in this order.
    package func run(_ name: String) throws -> (status: Int32, output: String) {
        let built = try swift("build", ["--product", name])
        guard built.status == 0 else { return built }
        let run = try ChildProgram.run([program(name)])
        return (run.status, built.output + run.output)
    }
}
