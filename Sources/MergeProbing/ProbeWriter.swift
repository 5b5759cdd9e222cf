internal import ChildProcesses
import FoundationEssentials
import ManagedObjects
internal import StoreAccess
public import StoreStrategies
import StoreVerification

/// The writing side of a merge probe: another coordinator, or another process.
public protocol ProbeWriter: Sendable {
    /// Its name in reports, such as `another process`.
    var name: String { get }

    /// Opens the scratch store with a role's description.
    func begin(with description: PersistentStoreDescription) throws -> any ProbeSession
}

/// One scratch store, open for writing.
public protocol ProbeSession {
    /// Executes one step in one save; the answer lists changes that were refused, and the others are saved.
    func carryOut(_ step: ProbeStep) throws -> ProbeAnswer

    /// Closes the store and ends the session.
    func end() throws
}

/// A probe writer in this process, with its own coordinator and connections.
public struct CoordinatorProbeWriter: ProbeWriter {
    public init() {}

    public var name: String { "a second coordinator" }

    public func begin(with description: PersistentStoreDescription) throws -> any ProbeSession {
        try Session(description)
    }

    private final class Session: ProbeSession {
        private let container: PersistentContainer
        private let store: PersistentStore

        init(_ description: PersistentStoreDescription) throws {
            container = PersistentContainer(name: "writer", descriptions: [description], viewContextOn: .privateQueue)
            store = try container.persistentStoreCoordinator.addPersistentStore(with: description)
        }

        func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
            if let reason = store.readOnlyReason { return ProbeAnswer(readOnlyReason: reason) }
            // One save for all; where it fails, single saves show which object is at fault.
            if let changes = try? save(step.operation, step.edits) { return ProbeAnswer(changes: changes) }
            var (changes, refusals): ([ProbeAnswer.Change], [ProbeAnswer.Refusal]) = ([], [])
            for edit in step.edits {
                do {
                    changes += try save(step.operation, [edit])
                } catch {
                    refusals.append(.init(entity: edit.entity, reason: ProbeReason.text(of: error)))
                }
            }
            return ProbeAnswer(changes: changes, refusals: refusals)
        }

        func end() throws { container.persistentStoreCoordinator.remove(store) }

        private func save(_ operation: ProbeStep.Operation, _ edits: [ProbeStep.Edit]) throws -> [ProbeAnswer.Change] {
            try container.newBackgroundContext(name: "probe")
                .performAndWait { context in
                    var objects: [ManagedObject] = []
                    for edit in edits { objects.append(try ProbeEditor.carryOut(edit, operation, in: context)) }
                    let deleted = operation == .delete ? objects.map { $0.objectID.uriRepresentation() } : []
                    try context.save()
                    return try zip(edits.indices, objects)
                        .map { index, object in
                            ProbeAnswer.Change(
                                entity: edits[index].entity,
                                uri: operation == .delete ? deleted[index] : object.objectID.uriRepresentation(),
                                destinations: operation == .insert ? try ProbeEditor.destinations(of: object) : [:]
                            )
                        }
                }
        }
    }
}

/// The writing side of a merge probe in another process, one for each session.
///
/// The program reads each ``ProbeRequest`` as a line of JSON from standard input, and prints the ``ProbeAnswer`` as a line. It
/// keeps the store open until its input ends, closes it, and exits. An answer should take at most ``longestAnswer``; ten
/// seconds later the program is killed.
public struct ProcessProbeWriter: ProbeWriter {
    /// How long a request may take.
    public static let longestAnswer = Duration.seconds(60)
    private static let patience = longestAnswer + .seconds(10)
    private static let greatestAnswer = 16 << 20
    private static let greatestComplaint = 4_096
    /// The interval at which a cancellable caller is asked whether to stop.
    private static let askingInterval = Duration.milliseconds(50)

    private let words: [String]
    private let isCancelled: @Sendable () -> Bool

    /// Creates a writer that starts `program` with `arguments` for each session, and polls `isCancelled` while it runs.
    public init(
        program: String,
        arguments: [String],
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        words = [program] + arguments
        self.isCancelled = isCancelled
    }

    public var name: String { "another process" }

    public func begin(with description: PersistentStoreDescription) throws -> any ProbeSession {
        try Session(self, description)
    }

    private final class Session: ProbeSession {
        private let writer: ProcessProbeWriter
        private let description: PersistentStoreDescription
        private let child: ChildProcess
        /// Its reading end stays open here, so that a write to a program that has exited raises no signal.
        private let input: Pipe
        private let output: Pipe
        private let errors: Pipe
        private var pending: [UInt8] = []
        private var complaints: [UInt8] = []

        init(_ writer: ProcessProbeWriter, _ description: PersistentStoreDescription) throws {
            (self.writer, self.description) = (writer, description)
            var program = Program(writer.words, environment: Program.inheritedEnvironment)
            program.endsWithThread = true
            do {
                (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
                child = try ChildProcess(
                    program,
                    input: .descriptor(input.reading),
                    output: .descriptor(output.writing),
                    errors: .descriptor(errors.writing)
                )
            } catch {
                throw writer.failure("does not start: \(error)")
            }
            output.closeWriting()
            errors.closeWriting()
        }

        func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
            let deadline = ContinuousClock.now + ProcessProbeWriter.patience
            let request = try JSONEncoder().encode(ProbeRequest(description: description, step: step))
            guard input.write([UInt8](request) + [UInt8(ascii: "\n")], until: deadline) else {
                throw writer.failure("does not read its requests")
            }
            return try JSONDecoder().decode(ProbeAnswer.self, from: Data(line(until: deadline)))
        }

        func end() throws {
            input.closeWriting()
            let deadline = ContinuousClock.now + ProcessProbeWriter.patience
            while wait(until: deadline) != .ended { try requireTime(until: deadline) }
            guard child.result == .status(0) else { throw ended() }
        }

        /// The next line that the program prints.
        private func line(until deadline: ContinuousClock.Instant) throws -> [UInt8] {
            while true {
                if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { pending.removeSubrange(...end) }
                    return [UInt8](pending[..<end])
                }
                guard pending.count < ProcessProbeWriter.greatestAnswer else {
                    throw writer.failure("answered with a line that is too long")
                }
                switch wait(for: output.reading, until: deadline) {
                case .late: try requireTime(until: deadline)
                case .ended: throw ended()
                case .readable:
                    guard let chunk = output.read(), !chunk.isEmpty else { throw ended() }
                    pending += chunk
                }
            }
        }

        /// Waits at most for the interval in which the caller asks whether to stop, and reads complaints: a full pipe would
        /// block the program.
        private func wait(
            for other: Int32? = nil,
            until deadline: ContinuousClock.Instant
        ) -> ChildProcess.Event {
            takeComplaints()
            return child.wait(for: other, until: min(deadline, .now + ProcessProbeWriter.askingInterval))
        }

        /// Reads what is there, without waiting: a child of the program may keep the pipe open.
        private func takeComplaints() {
            while ChildProcess.ready(of: [errors.reading], until: .now) != nil, let bytes = errors.read(),
                !bytes.isEmpty
            {
                complaints += bytes.prefix(max(0, ProcessProbeWriter.greatestComplaint - complaints.count))
            }
        }

        private func requireTime(until deadline: ContinuousClock.Instant) throws {
            if writer.isCancelled() {
                throw StoreError(.cancelled, path: writer.words[0], "stopped on request")
            }
            if deadline <= .now { throw writer.failure("does not answer") }
        }

        /// The error for a program that has exited, or closed its output, without an answer.
        private func ended() -> StoreError {
            child.end()
            takeComplaints()
            let ending = child.result.map { "\($0)" } ?? "no status"
            return writer.failure("ended with \(ending): \(String(decoding: complaints, as: UTF8.self))")
        }
    }

    private func failure(_ what: String) -> StoreError {
        StoreError(.failed, path: words[0], "the process that writes for the merge probe \(what)")
    }
}
