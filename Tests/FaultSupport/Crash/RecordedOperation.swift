import CFaultShim
import SafeFiles

/// One change of a program to the files of a scratch folder.
///
/// Files are identified by inode number, not by name, so that operations on an open file stay right when it is renamed or
/// unlinked.
package struct RecordedOperation: Sendable, CustomStringConvertible {
    /// A name in a folder.
    package struct Name: Hashable, Sendable {
        package let folder: UInt64
        package let name: String

        package init(_ folder: UInt64, _ name: String) {
            self.folder = folder
            self.name = name
        }
    }

    /// The kind of change.
    package enum Change: Hashable, Sendable {
        /// A new file or folder, by its mode.
        case create(Name, mode: UInt32)
        case link(Name)
        case rename(from: Name, to: Name)
        case remove(Name)
        case write(offset: Int, bytes: [UInt8])
        case resize(Int)
        /// `fsync`, or `fdatasync`, of a file or a folder.
        case synchronize(dataOnly: Bool)
        /// `syncfs`.
        case synchronizeAll
        case setMode(UInt32)
        case setOwner(user: UInt32, group: UInt32)
    }

    /// The file that was changed, created, renamed or removed.
    package let file: UInt64
    package let change: Change
    /// Who owns a file that was created.
    package var owner = SimulatedDisk.Owner()
    /// The file's times after the change.
    package var times: SimulatedDisk.Times?

    package init(_ file: UInt64, _ change: Change) {
        self.file = file
        self.change = change
    }

    package var isSynchronization: Bool {
        switch change {
        case .synchronize, .synchronizeAll: true
        default: false
        }
    }

    package var description: String {
        switch change {
        case .create(let name, let mode):
            "\(SimulatedDisk.isFolder(mode) ? "make the folder" : "create") \(name.name) (\(file)) in \(name.folder)"
        case .link(let name): "give \(file) the name \(name.name) in \(name.folder)"
        case .rename(let from, let to): "rename \(from.name) in \(from.folder) to \(to.name) in \(to.folder) (\(file))"
        case .remove(let name): "remove \(name.name) in \(name.folder) (\(file))"
        case .write(let offset, let bytes): "write \(bytes.count) bytes at \(offset) of \(file)"
        case .resize(let size): "resize \(file) to \(size)"
        case .synchronize(let dataOnly): "\(dataOnly ? "fdatasync" : "fsync") \(file)"
        case .synchronizeAll: "syncfs"
        case .setMode(let mode): "set the mode of \(file) to \(String(mode, radix: 8))"
        case .setOwner(let user, let group): "give \(file) to \(user):\(group)"
        }
    }
}

extension RecordedOperation {
    /// The record is truncated, or contains an unknown operation.
    package struct UnreadableRecord: Error {}

    /// Reads the shim's record.
    package static func all(in log: [UInt8]) throws -> [RecordedOperation] {
        var operations: [RecordedOperation] = []
        try log.withUnsafeBytes { log in
            var rest = log[...]
            func take(_ count: Int) throws -> UnsafeRawBufferPointer {
                guard count >= 0, count <= rest.count else { throw UnreadableRecord() }
                defer { rest = rest.dropFirst(count) }
                return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
            }
            while !rest.isEmpty {
                let record = try take(Int(FaultShimRecordSize)).loadUnaligned(as: FaultShimRecord.self)
                let name = try String(decoding: take(Int(record.name_length)), as: UTF8.self)
                let otherName = try String(decoding: take(Int(record.other_name_length)), as: UTF8.self)
                let bytes = try take(Int(record.byte_count))
                let change = try Change(
                    record,
                    Name(record.parent, name),
                    Name(record.other_parent, otherName),
                    bytes
                )
                var operation = RecordedOperation(record.inode, change)
                operation.owner = SimulatedDisk.Owner(user: record.user, group: record.group)
                if record.changed.0 != 0 {
                    operation.times = SimulatedDisk.Times(
                        modified: .init(seconds: record.modified.0, nanoseconds: record.modified.1),
                        changed: .init(seconds: record.changed.0, nanoseconds: record.changed.1)
                    )
                }
                operations.append(operation)
            }
        }
        return operations
    }
}

extension RecordedOperation.Change {
    fileprivate init(
        _ record: FaultShimRecord,
        _ name: RecordedOperation.Name,
        _ otherName: RecordedOperation.Name,
        _ bytes: UnsafeRawBufferPointer
    ) throws {
        switch FaultShimChange(record.change) {
        case FaultShimChangeCreate, FaultShimChangeMakeFolder: self = .create(name, mode: record.mode)
        case FaultShimChangeLink: self = .link(otherName)
        case FaultShimChangeRename: self = .rename(from: name, to: otherName)
        case FaultShimChangeRemove: self = .remove(name)
        case FaultShimChangeWrite: self = .write(offset: Int(record.offset), bytes: Array(bytes))
        case FaultShimChangeResize: self = .resize(Int(record.size))
        case FaultShimChangeSynchronize: self = .synchronize(dataOnly: false)
        case FaultShimChangeSynchronizeData: self = .synchronize(dataOnly: true)
        case FaultShimChangeSynchronizeAll: self = .synchronizeAll
        case FaultShimChangeSetMode: self = .setMode(record.mode & 0o7777)
        case FaultShimChangeSetOwner: self = .setOwner(user: record.user, group: record.group)
        default: throw RecordedOperation.UnreadableRecord()
        }
    }
}
