import TestSupport

/// Executable files, written by another process.
///
/// A file that this process opens for writing is open in every child between fork and exec, and the kernel does not run a
/// file that is open for writing (ETXTBSY).
enum ExecutableFile {
    struct CopyFailure: Error {
        let path: String
    }

    static func copy(_ source: String, to path: String) throws {
        guard try ChildProgram.run(["cp", source, path]).status == 0 else { throw CopyFailure(path: path) }
    }
}
