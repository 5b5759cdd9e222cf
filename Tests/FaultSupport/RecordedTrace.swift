import Foundation
package import ProtocolModel
import SafeFiles
import Synchronization

/// The traces that harnesses recorded, and the model's verdict on each.
package enum RecordedTraces {
    private struct Verdicts {
        var accepted = 0
        var refused = 0
        var undecided = 0
        var known: [TraceReplay.Trace: TraceReplay.Verdict] = [:]
    }

    private static let verdicts = Mutex(Verdicts())

    /// The figures of this process.
    package struct Summary: Sendable {
        package let accepted: Int
        package let distinct: Int
        package let refused: Int
        /// Traces for which the search gave up.
        package let undecided: Int
    }

    package static var summary: Summary {
        verdicts.withLock {
            Summary(accepted: $0.accepted, distinct: $0.known.count, refused: $0.refused, undecided: $0.undecided)
        }
    }

    /// What the model objects to; nil for a trace that it allows.
    ///
    /// Equal traces are searched for once.
    package static func objection(to trace: TraceReplay.Trace) -> String? {
        let known = verdicts.withLock { $0.known[trace] }
        let verdict = known ?? TraceReplay(trace).verdict
        verdicts.withLock { verdicts in
            verdicts.known[trace] = verdict
            switch verdict {
            case .allowed: verdicts.accepted += 1
            case .refused: verdicts.refused += 1
            case .undecided: verdicts.undecided += 1
            }
        }
        return if case .refused(let reason) = verdict { reason } else { nil }
    }
}

extension Scratch {
    /// The journals beside the stores of a pair in the folders `old` and `group`, and the files there; nil without a journal.
    package func trace() throws -> TraceReplay.Trace? {
        var trace = TraceReplay.Trace()
        var name: String?
        for (place, folder) in Self.folders {
            for (store, entries) in try journals(in: folder) {
                name = store
                trace.journals[place] = entries
            }
        }
        guard let name, !(trace.journals[.old] + trace.journals[.new]).isEmpty else { return nil }
        for (place, folder) in Self.folders { trace.files[place] = try files(of: name, in: folder) }
        return trace
    }

    private static let folders = [(Place.old, "old"), (Place.new, "group")]
    private static let stateFolder = ".store-migrate"
    /// The length and the checksum before each record.
    private static let prefixLength = 18

    private func journals(in folder: String) throws -> [String: [TraceReplay.Entry]] {
        guard try root.status(of: folder)?.kind == .directory else { return [:] }
        let place = try root.openDirectory(folder)
        guard try place.status(of: Self.stateFolder)?.kind == .directory else { return [:] }
        let states = try place.openDirectory(Self.stateFolder)
        var journals: [String: [TraceReplay.Entry]] = [:]
        for name in try states.entries() where try states.status(of: name)?.kind == .directory {
            let state = try states.openDirectory(name)
            guard try state.status(of: "journal") != nil else { continue }
            let lines = try state.contents(of: "journal", limit: 1 << 24)
                .split(separator: 0x0A, omittingEmptySubsequences: false)
            // What follows the last line feed is torn.
            journals[name] = lines.dropLast().compactMap { Self.entry(Array($0.dropFirst(Self.prefixLength))) }
        }
        return journals
    }

    private static func entry(_ json: [UInt8]) -> TraceReplay.Entry? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any],
            let key = object.keys.first,
            let record = Record(rawValue: key)
        else { return nil }
        var entry = TraceReplay.Entry(record)
        guard record == .begin, let run = (object[key] as? [String: Any])?["_0"] as? [String: Any] else { return entry }
        let path = { (key: String) in
            (run[key] as? [String: Any]).map { "\($0["folder"] ?? "")/\($0["name"] ?? "")" } ?? run[key] as? String
        }
        entry.isInPlace = path("old") == path("new")
        entry.fences = !entry.isInPlace && run["policy"] as? String == "fence"
        return entry
    }

    private func files(of name: String, in folder: String) throws -> TraceReplay.Files {
        var files = TraceReplay.Files()
        guard try root.status(of: folder)?.kind == .directory else { return files }
        let place = try root.openDirectory(folder)
        let entries = try place.entries()
        files.hasMain = entries.contains(name)
        files.hasReceipt = entries.contains(".\(name).store-migrate.json")
        files.hasStaging = entries.contains { $0.wholeMatch(of: /\.store-migrate-[0-9a-f]{32}/) != nil }
        files.hasRenamed = entries.contains { entry in
            (entry.hasPrefix(name + ".retired-") || entry.hasPrefix(name + ".withdrawn-")) && entry.hasSuffix(".sqlite")
        }
        guard files.hasMain else { return files }
        let query =
            "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '\\_store\\_migrate\\_fence\\_%' ESCAPE '\\'"
        let count = try? withCopy(of: name, in: place) { try $0.rows(query) }
        files.isFenced = count.map { $0 != ["i0"] }
        return files
    }
}

extension Judge {
    /// Objections to a scratch folder right after a fault, by the judge and by the model.
    package func objectionsAfterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        if ending == .exited(5) { scratch.hasFailedProof.withLock { $0 = true } }
        return try afterFault(scratch, fault, ending) + replay(scratch, hasEnded: ending == .exited(0))
    }

    /// Objections after the command was run again, by the judge and by the model.
    package func objectionsAfterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        try afterRerun(scratch, ending) + replay(scratch, hasEnded: ending == .exited(0))
    }

    /// The model's objection to the journals and the files in a scratch folder.
    func replay(_ scratch: Scratch, hasEnded: Bool, comparesFiles: Bool = true) throws -> [String] {
        guard isModelled, !scratch.hasFailedProof.withLock(\.self), var trace = try scratch.trace() else { return [] }
        trace.hasEnded = hasEnded
        trace.comparesFiles = comparesFiles
        trace.occupant = occupant
        return RecordedTraces.objection(to: trace).map { [$0] } ?? []
    }
}
