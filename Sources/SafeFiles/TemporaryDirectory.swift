import Glibc
import SystemPackage

/// A folder of our own, closed to other users, that goes away with everything in it at the end of its life.
package final class TemporaryDirectory: Sendable {
    package let directory: Directory
    private let parent: Directory
    private let name: String

    /// Creates the folder in the one at `path`, by default in `$TMPDIR`, else in `/tmp`.
    package init(
        prefix: String,
        in path: String? = nil,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws(FileError) {
        let chosen = path ?? getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? ""
        parent = try Directory.open(path: chosen.isEmpty ? "/tmp" : chosen, operations: operations)
        var generator = SystemRandomNumberGenerator()
        name = prefix + "-" + String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        directory = try parent.createDirectory(name, mode: 0o700)
    }

    deinit { remove() }

    /// Removes the folder and what is in it, as far as that is possible; a second call does nothing.
    package func remove() {
        // The name may lead to somebody else's folder by now; what is removed is what was opened.
        directory.removeContents()
        guard let status = try? parent.status(of: name), status.identity == (try? directory.status())?.identity
        else { return }
        try? parent.removeDirectory(name)
    }
}

extension Directory {
    /// Removes everything below this folder, following no symbolic link; passes over what cannot be removed.
    package func removeContents() {
        for name in (try? entries()) ?? [] {
            if (try? status(of: name))?.kind == .directory {
                // A folder that cannot be opened may still be empty.
                try? openDirectory(name).removeContents()
                try? removeDirectory(name)
            } else {
                try? removeFile(name)
            }
        }
    }
}
