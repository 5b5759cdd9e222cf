/// Something that happens.
package enum Action: Hashable, Sendable, CustomStringConvertible {
    /// A command starts: it locks the journal of its place, or finds nothing to do.
    case start(Verb, Place)
    /// A process carries out its next instruction.
    case step(String)
    /// A process appends a record to the journal at a place.
    case append(Record, Journal.Details, Place)
    /// A process stops waiting for a lock and ends.
    case timeOut
    /// A call fails: before the commit point the run rolls back, after it the run stops.
    case failure
    case crash
    case powerCut
    case write(Rows, Place)
    /// A journal without a run in it is removed when its lock is released.
    case removeJournal(Place)

    package var description: String {
        switch self {
        case .start(let command, let place): "\(command) of the \(place) store begins"
        case .step(let name): name
        case .append(let record, let details, let place):
            "appends \(record.rawValue)\(details.run == .none ? "" : " (\(details.run))") to the journal of the \(place) store"
        case .timeOut: "stops waiting for a lock"
        case .failure: "fails"
        case .crash: "is killed"
        case .powerCut: "the power is cut"
        case .write(let rows, let place): "an app writes \(rows) to the \(place) store"
        case .removeJournal(let place): "removes the empty journal of the \(place) store"
        }
    }

    /// True for what commands do by themselves, without a crash, a failure or an app.
    var isOfCommands: Bool {
        switch self {
        case .start, .step, .append, .timeOut, .removeJournal: true
        case .failure, .crash, .powerCut, .write: false
        }
    }
}

/// An action, the state after it, and what is wrong with the action itself.
package struct ModelStep: Sendable {
    package let action: Action
    package var state: ProtocolState
    package var flaw: String?
    /// The command that acts; nil for an app or a power cut.
    package var actor: Verb?
}

extension ModelStep: CustomStringConvertible {
    package var description: String { actor.map { "\($0) \(action)" } ?? "\(action)" }
}
