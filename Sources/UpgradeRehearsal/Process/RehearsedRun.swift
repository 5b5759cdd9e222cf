import CConfinement
import Glibc
import SafeFiles
import StoreFormat
import Synchronization
import SystemPackage

/// The part of a rehearsed run in the run's own process: it stops at trigger points, and dies with the rehearsal.
///
/// Otherwise the run equals one from the command line with the same words.
public struct RehearsedRun {
    /// The command-line word that starts one.
    public static let word = "rehearsed-run"
    /// The number of the user `nobody`.
    static let nobody: UInt32 = 65_534
    private static let separator = "--"

    /// The command line of the tool.
    public let words: [String]
    private let gate: String
    private let folder: String
    private let seconds: UInt32
    private let runsAsNobody: Bool
    private let moments: Set<RunMoment>

    init(
        words: [String],
        gate: String,
        folder: String,
        seconds: UInt32,
        runsAsNobody: Bool,
        moments: Set<RunMoment>
    ) {
        self.words = words
        self.gate = gate
        self.folder = folder
        self.seconds = seconds
        self.runsAsNobody = runsAsNobody
        self.moments = moments
    }

    /// Reads the words after ``word``.
    public init(arguments: [String]) throws {
        guard arguments.count > 6, arguments[5] == Self.separator, let seconds = UInt32(arguments[1]) else {
            throw RehearsalFailure("this command is for rehearsals alone")
        }
        self.init(
            words: Array(arguments[6...]),
            gate: arguments[0],
            folder: arguments[4],
            seconds: seconds,
            runsAsNobody: arguments[2] == "nobody",
            moments: Set(arguments[3].split(separator: ",").compactMap { RunMoment(rawValue: String($0)) })
        )
    }

    /// The words that ``init(arguments:)`` reads.
    var arguments: [String] {
        let moments = moments.map(\.rawValue).sorted().joined(separator: ",")
        return [
            gate, "\(seconds)", runsAsNobody ? "nobody" : "-", moments.isEmpty ? "-" : moments, folder, Self.separator,
        ] + words
    }

    /// Applies deadline, user and working folder to this process; to be called before anything else.
    public func prepare() throws {
        // The kernel ends this process even if the rehearsal dies.
        alarm(seconds)
        let parent = getppid()
        if !moments.isEmpty { try watchMoments() }
        if runsAsNobody, getuid() == 0 {
            guard setgroups(0, nil) == 0, setgid(Self.nobody) == 0, setuid(Self.nobody) == 0 else {
                throw RehearsalFailure("this process cannot become the user nobody (\(Errno(rawValue: errno)))")
            }
        }
        guard chdir(folder) == 0 else {
            throw RehearsalFailure("\(folder) cannot be entered (\(Errno(rawValue: errno)))")
        }
        // A change of user clears the parent-death signal, and a process that a tracer starts does not have it yet.
        _ = cconfinement_end_with(parent)
    }

    private func watchMoments() throws {
        let said = open(gate + "/" + RunGate.saidName, O_WRONLY | O_CLOEXEC)
        let go = open(gate + "/" + RunGate.goName, O_RDONLY | O_CLOEXEC)
        guard said != -1, go != -1 else {
            throw RehearsalFailure("the rehearsal's pipes cannot be opened (\(Errno(rawValue: errno)))")
        }
        let waited = Mutex(moments)
        RunMoment.observe { moment in
            // Only the first pass of a point counts, and only one thread at a time stops.
            waited.withLock { waited in
                guard waited.remove(moment) != nil else { return }
                let line = Array((moment.rawValue + "\n").utf8)
                _ = write(said, line, line.count)
                var byte: UInt8 = 0
                // The end of the pipe means that the rehearsal is gone.
                while read(go, &byte, 1) != 1 {
                    guard errno == EINTR else { _exit(137) }
                }
            }
        }
    }
}
