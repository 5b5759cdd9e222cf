import TestSupport

/// Files to be run, put into place by another process.
///
/// A file that this process had open to write stays open, for a moment, in every child that is being started meanwhile,
/// and the kernel runs no file that somebody may write.
enum ExecutableFile {
    struct CopyFailure: Error {
        let path: String
    }

    static func copy(_ source: String, to path: String) throws {
        guard try ChildProgram.run(["cp", source, path]).status == 0 else { throw CopyFailure(path: path) }
    }
}
