import CTestSupport
import Foundation
import SafeFiles

/// Namespaces with separate mounts and processes, and a folder in memory to work in.
///
/// Its mounts, processes and files end with the process that entered it, and a loop device ends with its mount. No cleanup
/// is necessary.
package enum PrivateMachine {
    /// The mount point of everything; it hides other mounts there.
    static let folder = "/mnt"
    /// The folder in which harnesses work on a file system of the caller's choice.
    package static let place = folder + "/place"
    private static let unshare = "/usr/bin/unshare"
    private static let setpriv = "/usr/bin/setpriv"
    private static let separation = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]

    /// Why this machine cannot make one; nil when it can.
    package static var obstacle: String? {
        guard geteuid() == 0 else { return "only root can mount" }
        for path in ["/dev/loop-control", unshare, setpriv] where access(path, F_OK) != 0 {
            return "there is no \(path)"
        }
        let attempt = Command(executable: unshare, arguments: separation + ["/bin/true"])
        let ending = try? attempt.run(output: "/dev/null", deadline: Deadline(after: .seconds(60)))
        return ending == .exited(0) ? nil : "mounts and processes cannot be separated from the rest"
    }

    /// Runs this program with these arguments in new namespaces.
    package static func enter(_ arguments: [String]) throws {
        let words = [unshare] + separation + [selfPath] + arguments
        var pointers = words.map { strdup($0) } + [nil]
        execv(unshare, &pointers)
        throw BlockFailure(what: "cannot start \(unshare)", errno: errno)
    }

    /// This program, for a thread that waits for it; it is killed if that thread ends.
    package static func followed(_ arguments: [String]) -> Command {
        Command(
            executable: setpriv,
            arguments: ["--pdeathsig", "KILL", "--", selfPath] + arguments,
            environment: ProcessInfo.processInfo.environment
        )
    }

    /// Prepares the inside: a work folder in memory, and a folder for scratches on a file system.
    package static func settle(on fileSystem: BlockFileSystem) throws {
        // The first process of a PID namespace gets only signals for which it has a handler.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _exit(128 + $0) } }
        guard ctest_mount_memory(folder) == 0 else {
            throw BlockFailure(what: "cannot mount a work folder at \(folder)", errno: errno)
        }
        for path in [place, BlockDisk.folder] where mkdir(path, 0o755) != 0 {
            throw BlockFailure(what: "cannot make \(path)", errno: errno)
        }
        let image = folder + "/place.image"
        let sector = UInt32(BlockFileSystem.sectorSize)
        try BlockDisk.make(image, fileSystem, bytes: 2 << 30)
        guard ctest_mount_image(image, place, fileSystem.rawValue, fileSystem.options, sector, 0) == 0 else {
            throw BlockFailure(what: "cannot mount \(fileSystem)", errno: errno)
        }
        setenv(Scratch.placeVariable, place, 1)
    }

    private static var selfPath: String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    }
}
