import Dispatch
package import SafeFiles
package import StoreAccess
import Synchronization
import SystemPackage

/// Unpacks an archive into an empty folder of our own, and trusts only what it has read itself.
///
/// The first member lists the others. Each following member must be the next one of that list, with its size and bytes,
/// or the archive is refused. Files are made through ``Directory``, for this user alone, in folders that were made here;
/// external files have the store's mode, so that the store's readers can read them.
package struct ArchiveUnpacker {
    private let limits: ArchiveLimits
    private let monitor: WorkMonitor

    package init(limits: ArchiveLimits = ArchiveLimits(), monitor: WorkMonitor = .silent) {
        self.limits = limits
        self.monitor = monitor
    }

    /// The manifest alone; nothing is unpacked.
    package func manifest(of source: ArchiveSource) throws -> BackupManifest {
        try manifest(from: ArchiveReader(source, limits: limits))
    }

    /// Unpacks into `folder`, whose content is to be discarded after an error.
    package func unpack(_ source: ArchiveSource, into folder: Directory) throws -> BackupManifest {
        let reader = try ArchiveReader(source, limits: limits)
        let manifest = try manifest(from: reader)
        try requireRoom(for: manifest, from: source, in: folder)
        let place = manifest.location(in: folder.path)
        let external = try externalFolder(of: manifest, at: place, in: folder)
        var done: Int64 = 0
        let total = manifest.byteCount
        for expected in manifest.members {
            try monitor.checkCancellation()
            monitor.report(.proving, done, of: total)
            guard let member = try reader.next() else {
                throw BackupError(.damaged, path: source.path, "the archive ends before its last member")
            }
            guard member.name == expected.name, member.bytes == expected.bytes else {
                throw BackupError(.refused, path: source.path, "its members are not those of its manifest")
            }
            let (target, name, mode): (Directory?, String, UInt32) =
                switch member.name {
                case place.name: (folder, place.name, 0o600)
                case place.relayName: (folder, place.relayName, 0o600)
                default:
                    (external, member.name.split(separator: "/").last.map(String.init) ?? "", Self.mode(of: manifest))
                }
            guard let target else {
                throw BackupError(.refused, path: source.path, "its members are not those of its manifest")
            }
            try unpack(expected, from: reader, to: target.createFile(name, mode: mode))
            done += expected.bytes
        }
        guard try reader.next() == nil else {
            throw BackupError(.refused, path: source.path, "the archive contains more than its manifest lists")
        }
        return manifest
    }

    private func manifest(from reader: ArchiveReader) throws -> BackupManifest {
        let path = reader.source.path
        guard let first = try reader.next(), first.name == BackupManifest.memberName else {
            throw BackupError(
                .notABackup,
                path: path,
                "this archive is not a backup of store-migrate: it does not begin with a manifest"
            )
        }
        guard first.bytes <= limits.manifestBytes else {
            throw BackupError(.tooLarge, path: path, "its manifest is too large")
        }
        var text = ManifestText(from: path, limits, monitor: monitor)
        try reader.readContent { try text.add($0) }
        let manifest = try BackupManifest(text, from: path, limits)
        try manifest.requireSoundNames(limits, path: path, monitor: monitor)
        return manifest
    }

    /// Throws before anything is written when the members exceed a limit or the free space.
    private func requireRoom(for manifest: BackupManifest, from source: ArchiveSource, in folder: Directory) throws {
        if let size = source.size {
            guard manifest.byteCount <= limits.mostBytes(from: size) else {
                throw BackupError(
                    .tooLarge,
                    path: source.path,
                    "the archive unpacks to \(manifest.byteCount) bytes, more than \(limits.ratio) times its size"
                )
            }
        }
        let rest = limits.mostInput(for: manifest.byteCount, members: manifest.members.count)
        let (budget, overflow) = source.budget.addingReportingOverflow(rest)
        source.budget = overflow ? .max : budget
        guard try folder.freeBytes() > manifest.byteCount else {
            throw StoreError(
                .noSpace,
                path: folder.path,
                "\(manifest.byteCount) bytes are needed to unpack the archive"
            )
        }
    }

    private func externalFolder(
        of manifest: BackupManifest,
        at place: StoreLocation,
        in folder: Directory
    ) throws -> Directory? {
        guard manifest.members.contains(where: { $0.name != place.name && $0.name != place.relayName }) else {
            return nil
        }
        // Users who may read the store may also search the folder.
        let mode = Self.mode(of: manifest) | (Self.mode(of: manifest) & 0o444) >> 2
        return try folder.createDirectory(place.supportFolderName, mode: mode)
            .createDirectory(StoreLocation.externalDataFolderName, mode: mode)
    }

    /// The store's mode, and always read and write permission for the owner.
    private static func mode(of manifest: BackupManifest) -> UInt32 { manifest.store.mode | 0o600 }

    private func unpack(_ member: BackupManifest.Member, from reader: ArchiveReader, to file: DurableFile) throws {
        let output = PieceWriter(to: file)
        try reader.readContent { bytes in
            try monitor.checkCancellation()
            try output.add(bytes)
        }
        let sha256 = try output.finish()
        try file.close()
        guard sha256 == member.sha256 else {
            throw BackupError(.damaged, path: reader.source.path, "a member's bytes differ from its checksum")
        }
    }
}

/// Writes a file on a thread of its own, while the caller unpacks and hashes what comes next.
///
/// It buffers at most a few pieces; the faster thread waits for the other.
final class PieceWriter {
    private static let pieceSize = 1 << 20
    private static let mostPieces = 2

    /// What the two threads share.
    private struct Output {
        var offset: Int64 = 0
        var failure: (any Error)?
        /// Buffers that can be filled again.
        var spare: [[UInt8]] = []

        mutating func take(_ piece: [UInt8], to file: DurableFile) {
            if failure == nil {
                failure = piece.withUnsafeBytes { bytes in Result { try file.write(bytes, at: offset) }.failure }
                offset += Int64(piece.count)
            }
            spare.append(piece)
        }
    }

    private let file: DurableFile
    private let output = Shared()
    private let queue = DispatchQueue(label: "store-migrate.unpacking")
    private let room = DispatchSemaphore(value: mostPieces)
    private var piece: [UInt8] = []
    private var hash = SHA256()

    private final class Shared: Sendable {
        let state = Mutex(Output())
    }

    init(to file: DurableFile) { self.file = file }

    /// The writer has to end before the file is released.
    deinit { queue.sync {} }

    /// Appends bytes to the file; throws the error of an earlier write.
    func add(_ bytes: UnsafeRawBufferPointer) throws {
        hash.update(bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.pieceSize - piece.count)
            piece.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            if piece.count == Self.pieceSize { try handOver() }
        }
    }

    /// Waits until all is written, and returns the digest.
    func finish() throws -> String {
        queue.sync {}
        let last = piece
        piece = []
        try output.state.withLock { output in
            output.take(last, to: file)
            if let failure = output.failure { throw failure }
        }
        return hash.hexadecimal
    }

    private func handOver() throws {
        // The writer signals after every piece, also after a failed write.
        room.wait()
        let full = piece
        piece = output.state.withLock { $0.spare.popLast() } ?? []
        piece.removeAll(keepingCapacity: true)
        piece.reserveCapacity(Self.pieceSize)
        queue.async { [file, output, room] in
            output.state.withLock { $0.take(full, to: file) }
            room.signal()
        }
        if let failure = output.state.withLock({ $0.failure }) { throw failure }
    }
}

extension Result {
    /// The error of a write, if one failed.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
