internal import SafeFiles

/// A private copy of a store's main file, log and journal, under their own names, so that SQLite can recover it.
struct StoreCopy {
    private static let pieceSize = 1 << 20

    private let location: StoreLocation
    private let vetted: VettedFile
    private let token: FileToken
    private let monitor: WorkMonitor
    private let total: Int64

    init(of location: StoreLocation, vetted: VettedFile, token: FileToken, monitor: WorkMonitor) {
        self.location = location
        self.vetted = vetted
        self.token = token
        self.monitor = monitor
        total = [token.main, token.writeAheadLog, token.journal].reduce(0) { $0 + ($1?.size ?? 0) }
    }

    /// Copies into a private folder; the caller must check that the files were consistent.
    func make(in folder: Directory) throws -> StoreLocation {
        // Recovery writes the log's pages into the copy, which may grow by as much.
        let needed = total + (token.writeAheadLog?.size ?? 0) + (1 << 20)
        guard try folder.freeBytes() >= needed else {
            throw StoreError(
                .noSpace,
                path: folder.path,
                "a private copy of \(needed) bytes does not fit; set TMPDIR to a folder with more space"
            )
        }
        let main = try MainFile(vetted, path: location.path)
        var done = try copy(token.main?.size ?? 0, to: location.name, in: folder, doneBefore: 0) { buffer, offset in
            try main.read(into: buffer, at: offset)
        }
        for (name, entry) in [
            (location.writeAheadLogName, token.writeAheadLog), (location.journalName, token.journal),
        ] {
            guard let entry, entry.size > 0 else { continue }
            let file = try open(name)
            var size = entry.size
            if name == location.journalName, let note = try SuperJournal(of: file, size: size) {
                // If the super-journal is missing, the transaction was committed and the journal is a leftover.
                guard try note.isPending() else { continue }
                size -= note.byteCount
            }
            done = try copy(size, to: name, in: folder, doneBefore: done) { buffer, offset in
                _ = try file.read(into: buffer, at: offset)
            }
        }
        return StoreLocation(folder: folder.path, name: location.name)
    }

    private func open(_ name: String) throws -> DurableFile {
        do throws(FileError) {
            return try vetted.folder.openFile(name, for: .reading)
        } catch {
            throw UnreadableStore.error(for: error, path: error.path)
        }
    }

    private func copy(
        _ size: Int64,
        to name: String,
        in folder: Directory,
        doneBefore: Int64,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Void
    ) throws -> Int64 {
        let destination = try folder.createFile(name, mode: 0o600)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        var offset: Int64 = 0
        while offset < size {
            try monitor.checkCancellation()
            let count = Int(min(Int64(piece.count), size - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: piece[..<count])
            try read(part, offset)
            try destination.write(UnsafeRawBufferPointer(part), at: offset)
            offset += Int64(count)
            monitor.report(.copying, doneBefore + offset, of: total)
        }
        try destination.close()
        return doneBefore + offset
    }
}
