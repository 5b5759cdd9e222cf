/// Every state in which a power cut may leave a disk during recorded operations.
///
/// The model is the weakest guarantee of file systems, so that what survives here survives on all of them:
/// - The 4096-byte blocks of a file become durable separately, and so does its size: a file may have grown and read zeros,
///   or lose new bytes beyond its old size.
/// - The names in a folder become durable separately, in any order: a rename may leave both names, and one between folders
///   neither. Within one folder the new name appears before the old one disappears. A folder has one name at a time.
/// - `fsync` of a file flushes its bytes, size, mode and owner, `fdatasync` its bytes and size; neither flushes its name.
///   Either of a folder flushes its names. `syncfs` flushes everything.
///
/// A block is written atomically. SQLite requires that of a disk ("powersafe overwrite" in its "Atomic Commit" page) for
/// content without a checksum in its journals. Records with a checksum straddle blocks, and torn ones are among the states.
package struct CrashSpace: Sendable {
    /// One part of an operation that becomes durable separately.
    struct Part: Sendable {
        let operation: Int
        let effects: [SimulatedDisk.Effect]
        /// A part without which this one has no effect: the new name of a renamed file.
        var need: Int?
        /// The operation that flushed it.
        var settledBy = Int.max
    }

    /// A file with a reused inode number: the record cannot distinguish it from the earlier file.
    package struct AmbiguousFile: Error {}

    private static let blockSize = 4096

    package let operations: [RecordedOperation]
    /// The disk before the first operation, with all later files as inodes without a name.
    private var origin: SimulatedDisk
    private(set) var parts: [Part] = []

    /// Creates the space; `ignored` operations have no effect, such as an `fsync` that never happened.
    package init(
        before: SimulatedDisk,
        operations: [RecordedOperation],
        ignoring ignored: Set<Int> = []
    ) throws {
        self.operations = operations
        origin = before
        var sizes = before.nodes.mapValues(\.size)
        var unsettled: [Int] = []
        for (number, operation) in operations.enumerated() {
            guard !ignored.contains(number) else { continue }
            if case .create(_, let mode) = operation.change {
                guard origin.nodes[operation.file] == nil else { throw AmbiguousFile() }
                var node = SimulatedDisk.Node(mode: mode)
                node.owner = operation.owner
                origin.nodes[operation.file] = node
            }
            if operation.isSynchronization {
                unsettled.removeAll { part in
                    guard let effect = parts[part].effects.first, operation.settles(effect) else { return false }
                    parts[part].settledBy = number
                    return true
                }
            } else {
                let first = parts.count
                for part in Self.parts(of: operation, isFolder: origin.nodes[operation.file]?.isFolder ?? false, &sizes)
                {
                    parts.append(Part(operation: number, effects: part.effects, need: part.needsFirst ? first : nil))
                }
                unsettled += first..<parts.count
            }
        }
    }

    /// The parts of the first `prefix` operations that were not flushed.
    package func pending(at prefix: Int) -> [Int] {
        parts.indices.filter { parts[$0].operation < prefix && parts[$0].settledBy >= prefix }
    }

    package func disk(in state: CrashState) -> SimulatedDisk {
        var disk = origin
        let lost = Set(state.lost)
        for (number, part) in parts.enumerated() where part.operation < state.prefix {
            if part.settledBy >= state.prefix, lost.contains(number) { continue }
            // Flushing a part flushes the part that it needs, too.
            if part.settledBy >= state.prefix, let need = part.need, lost.contains(need),
                parts[need].settledBy >= state.prefix
            {
                continue
            }
            for effect in part.effects { disk.apply(effect) }
        }
        // Times are always the last ones, even when content was lost: code that trusts a time must have flushed the rest.
        for operation in operations.prefix(state.prefix) {
            if let times = operation.times { disk.nodes[operation.file]?.times = times }
        }
        return disk
    }

    /// The disk when no part is lost.
    package var end: SimulatedDisk { disk(in: CrashState(prefix: operations.count, lost: [])) }

    /// The operations and the lost parts as text.
    package func steps(to state: CrashState) -> String {
        let lost = Dictionary(grouping: state.lost.filter(parts.indices.contains)) { parts[$0].operation }
        let lines = operations.prefix(state.prefix).enumerated()
            .compactMap { number, operation -> String? in
                let all = parts.indices.filter { parts[$0].operation == number }
                let isPending = all.contains { parts[$0].settledBy >= state.prefix }
                guard isPending || number >= state.prefix - 3 || operation.isSynchronization else { return nil }
                guard let parts = lost[number] else { return "    #\(number) \(operation)" }
                return "    #\(number) LOST \(parts.count) of \(all.count) parts: \(operation)"
            }
        return lines.suffix(60).joined(separator: "\n")
    }

    private static func parts(
        of operation: RecordedOperation,
        isFolder: Bool,
        _ sizes: inout [UInt64: Int]
    ) -> [(effects: [SimulatedDisk.Effect], needsFirst: Bool)] {
        let file = operation.file
        switch operation.change {
        case .create(let name, _), .link(let name): return [([.entry(name, file)], false)]
        case .rename(let from, let to) where isFolder: return [([.entry(to, file), .entry(from, nil)], false)]
        case .rename(let from, let to):
            return [([.entry(to, file)], false), ([.entry(from, nil)], from.folder == to.folder)]
        case .remove(let name): return [([.entry(name, nil)], false)]
        case .write(let offset, let bytes):
            var parts: [(effects: [SimulatedDisk.Effect], needsFirst: Bool)] = []
            var start = 0
            while start < bytes.count {
                let room = blockSize - (offset + start) % blockSize
                let end = min(bytes.count, start + room)
                parts.append(([.data(file, offset: offset + start, bytes[start..<end])], false))
                if offset + end > sizes[file, default: 0] {
                    sizes[file] = offset + end
                    parts.append(([.size(file, offset + end)], false))
                }
                start = end
            }
            return parts
        case .resize(let size):
            sizes[file] = size
            return [([.size(file, size)], false)]
        case .setMode(let mode): return [([.mode(file, mode)], false)]
        case .setOwner(let user, let group):
            return [([.owner(file, SimulatedDisk.Owner(user: user, group: group))], false)]
        case .synchronize, .synchronizeAll: return []
        }
    }
}

extension RecordedOperation {
    /// True if this operation flushes a part of an earlier one.
    fileprivate func settles(_ effect: SimulatedDisk.Effect) -> Bool {
        guard case .synchronize(let dataOnly) = change else { return change == .synchronizeAll }
        return switch effect {
        // A folder's names are its data; SQLite, too, flushes them with fdatasync.
        case .entry(let name, _): name.folder == file
        case .data(let changed, _, _), .size(let changed, _): changed == file
        case .mode(let changed, _), .owner(let changed, _): changed == file && !dataOnly
        }
    }
}
