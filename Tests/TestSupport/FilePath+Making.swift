import Glibc
package import SystemPackage

/// File kinds that the package itself never makes.
extension FilePath {
    package func makeSymbolicLink(to target: String) throws {
        try Self.check { symlink(target, string) }
    }

    package func makeHardLink(to target: String) throws {
        try Self.check { link(target, string) }
    }

    package func makeFIFO() throws {
        try Self.check { mkfifo(string, 0o600) }
    }

    package func setMode(_ mode: UInt32) throws {
        try Self.check { chmod(string, mode) }
    }

    private static func check(_ call: () -> Int32) throws {
        guard call() == 0 else { throw Errno(rawValue: errno) }
    }
}
