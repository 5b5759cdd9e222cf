/// One step of a walk, by an app, a person or the tool.
package enum WalkStep: Codable, Sendable, Equatable {
    case app(place: Int, AppWork)
    /// A person copies the store's files to a path without a store.
    case copy(from: Int, to: Int)
    /// A person removes the published snapshot.
    case removeSnapshot
    /// An app opens a store and keeps it open; an app that held the store before is ended first.
    case hold(place: Int, Hold)
    /// The app that holds a store is ended.
    case release(place: Int)
    case tool(ToolCall)

    /// An app's work on a store, in one transaction.
    package enum AppWork: Codable, Sendable, Equatable {
        /// Makes a store without rows at a path without a store.
        case create
        case insert(table: Int, token: Int, seed: UInt64)
        /// `pick` chooses among the existing rows.
        case update(table: Int, pick: Int, token: Int, seed: UInt64)
        case delete(table: Int, pick: Int)
        case vacuum
        case checkpoint
        case sql(String)
    }

    /// How an app keeps a store open.
    package enum Hold: String, Codable, Sendable, CaseIterable {
        case idle, readTransaction, writeTransaction
    }

    /// A command line; `{0}`, `{1}` and `{2}` are the stores' paths, `{folder 0}` and so on their folders, `{base}` is a copy
    /// made for the call, `{backups}` the folder of archives, `{archive}` the latest of them, and `{snapshot}` the path to
    /// which stores are published.
    ///
    /// See `WalkProgram` for others.
    package struct ToolCall: Codable, Sendable, Equatable {
        package var words: [String]
        package var harm: Harm
        /// The store into which an app inserts rows continuously while the command runs.
        package var liveWriter: LiveWriter?

        package init(_ words: [String], harm: Harm = .none) {
            self.words = words
            self.harm = harm
        }

        var verb: String { words.first ?? "" }
        func names(_ program: WalkProgram) -> Bool { words.contains(program.word) }
        /// True for a share that must not go on, if it asks.
        var isVetoed: Bool { names(.declines) || names(.dies) }
        var isRehearsal: Bool { words.contains("-n") }
        var mustChangeNothing: Bool { isVetoed || isRehearsal }
        /// The failing file calls, where there are some.
        var failure: Failure? { if case .failed(_, let failure) = harm { failure } else { nil } }
        /// True for a command that may end at any point.
        var isStopped: Bool { harm != .none && failure == nil }
        /// The stores that the words name, in their order.
        var places: [Int] {
            words.compactMap { word in
                word.count == 3 && word.first == "{" ? Int(word.dropFirst().dropLast()) : nil
            }
        }
        /// The tokens that an app may write to a store while the command runs.
        func liveTokens(at place: Int) -> Set<String> {
            guard let writer = liveWriter, writer.place == place else { return [] }
            return Set((0..<LiveWriter.rows).map { WalkWorld.token(writer.firstToken + $0) })
        }
        func value(of option: String) -> String? {
            words.firstIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        }
    }

    /// The disturbance of the command.
    package enum Harm: Codable, Sendable, Equatable {
        case none
        /// It is killed at a file call.
        case killed(call: Int)
        /// It gets SIGTERM after some milliseconds.
        case terminated(milliseconds: Int)
        /// File calls fail, from one on.
        case failed(call: Int, Failure)
    }

    /// How file calls of a command fail.
    package enum Failure: String, Codable, Sendable, CaseIterable {
        /// One call fails with EIO.
        case inputOutputError
        /// Every call that writes fails with EIO.
        case brokenDisk
        /// Every call that needs space fails with ENOSPC.
        case fullDisk
        /// Every other read and write fails with EINTR, which the command has to repeat.
        case interruptedTransfers
        /// Every other read and write transfers only half, which the command has to continue.
        case halfTransfers

        /// True where the command has to do its work all the same.
        var isRetried: Bool { self == .interruptedTransfers || self == .halfTransfers }

        /// The environment variables for the shim.
        func environment(from call: Int) -> [String: String] {
            let fault: Fault =
                switch self {
                case .inputOutputError: .inputOutputError
                case .brokenDisk: .lastingInputOutputError
                case .fullDisk: .lastingNoSpace
                case .interruptedTransfers: .interrupted
                case .halfTransfers: .shortTransfer
                }
            var environment = FaultPoint(number: call, fault: fault).environment
            if isRetried {
                let kinds = [CallKind.read, .write].reduce(UInt32(0)) { $0 | 1 << $1.rawValue }
                environment["FAULT_SHIM_KINDS"] = String(kinds)
                environment["FAULT_SHIM_ONCE"] = "1"
            }
            return environment
        }
    }

    /// An app that inserts rows while a command runs; their tokens begin with a number.
    package struct LiveWriter: Codable, Sendable, Equatable {
        /// The maximum number of rows.
        static let rows = 40

        package var place: Int
        package var firstToken: Int
        package var seed: UInt64
    }
}
