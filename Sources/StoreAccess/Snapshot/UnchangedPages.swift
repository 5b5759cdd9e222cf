/// The tables whose pages are the same bytes in two stores, so that their records are the same.
///
/// Source: the file format of SQLite's documentation; its table `dbstat` lists the pages of a b-tree with the overflow
/// pages.
package struct UnchangedPages {
    private let store: StoreConnection
    private let former: StoreConnection
    /// The numbers of the pages that differ, or that only one store has.
    private let changed: Set<Int64>

    /// Compares the main files; nil if a log may hold other pages, if page size or encoding differ, or if this SQLite
    /// lacks `dbstat`.
    package init?(in store: StoreConnection, since former: StoreConnection) throws {
        guard try store.showsMainFile, try former.showsMainFile,
            try ["page_size", "encoding"]
                .allSatisfy({ try store.value("PRAGMA \($0)") == former.value("PRAGMA \($0)") }),
            try store.value("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'") != nil,
            let pageSize = try store.value("PRAGMA page_size")?.integer, pageSize > 0
        else { return nil }
        (self.store, self.former) = (store, former)
        changed = try Self.differingPages(of: store, former, pageSize: Int(pageSize))
    }

    /// True if the table has the same records in both stores.
    package func hold(_ table: String) throws -> Bool {
        let roots = try [store, former]
            .map {
                try $0.value("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(table)])
            }
        guard roots[0] != nil, roots[0] == roots[1] else { return false }
        let pages = try store.cursor("SELECT pageno FROM dbstat WHERE name = ?", [.text(table)])
        var isAny = false
        while try pages.next() {
            isAny = true
            if pages.withRow({ changed.contains($0.integer(0)) }) { return false }
        }
        return isAny
    }

    private static func differingPages(
        of store: StoreConnection,
        _ former: StoreConnection,
        pageSize: Int
    ) throws -> Set<Int64> {
        var changed: Set<Int64> = []
        try store.compareBytes(with: former) { offset, one, other in
            for start in stride(from: 0, to: one.count, by: pageSize) {
                let page = start..<start + pageSize
                let isEqual = UnsafeRawBufferPointer(rebasing: one[page])
                    .startsEqual(to: UnsafeRawBufferPointer(rebasing: other[page]), count: pageSize)
                if !isEqual { changed.insert((offset + Int64(start)) / Int64(pageSize) + 1) }
            }
            return true
        }
        return changed
    }
}

extension StoreConnection {
    /// True if the main files have the same bytes, and so the same content; false as well if a log may hold other pages.
    package func hasSameBytes(as other: StoreConnection) throws -> Bool {
        guard try showsMainFile, try other.showsMainFile, try size(of: .main) == other.size(of: .main) else {
            return false
        }
        var isEqual = true
        try compareBytes(with: other) { _, _, _ in
            isEqual = false
            return false
        }
        return isEqual
    }

    /// Passes the chunks of both main files that differ, each with its offset, until the closure returns false.
    fileprivate func compareBytes(
        with other: StoreConnection,
        _ differ: (Int64, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        // A power of two, at least as large as a page.
        let chunk = 1 << 20
        var (ours, theirs) = ([UInt8](repeating: 0, count: chunk), [UInt8](repeating: 0, count: chunk))
        let size = try max(size(of: .main), other.size(of: .main))
        for offset in stride(from: 0, to: size, by: chunk) {
            try checkCancellation()
            let goesOn = try ours.withUnsafeMutableBytes { ours in
                try theirs.withUnsafeMutableBytes { theirs in
                    // Bytes beyond the end of a file are read as zero.
                    try read(.main, into: ours, at: offset)
                    try other.read(.main, into: theirs, at: offset)
                    let (ours, theirs) = (UnsafeRawBufferPointer(ours), UnsafeRawBufferPointer(theirs))
                    return try ours.startsEqual(to: theirs, count: chunk) || differ(offset, ours, theirs)
                }
            }
            guard goesOn else { return }
        }
    }

    /// True if the main file has every page as this connection reads it, and no other process can write to it.
    ///
    /// While a read transaction that began with an empty log is open, no checkpoint can write to the main file.
    ///
    /// Source: the WAL-mode file format of SQLite's documentation, on `WAL_READ_LOCK(0)`.
    fileprivate var showsMainFile: Bool {
        get throws {
            switch access {
            case .immutable: true
            case .unlocked: false
            case .privateCopy, .discardedCopy: try !isInTransaction && (!usesLog || hasEmptyLog)
            case .liveReading, .liveRecovering, .liveWriting: try isOnlyReading && usesLog && hasEmptyLog
            }
        }
    }

    private var usesLog: Bool { get throws { try value("PRAGMA journal_mode")?.text == "wal" } }

    private var hasEmptyLog: Bool { get throws { try !isOpen(.journal) || size(of: .journal) == 0 } }
}
