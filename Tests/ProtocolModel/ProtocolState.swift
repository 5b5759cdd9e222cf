/// Everything that the commands, the apps and a power cut act on.
package struct ProtocolState: Hashable, Sendable {
    package var stores: EachPlace<StoreFile>
    package var journals: EachPlace<Journal>
    /// The staging folder of the run in each journal.
    package var staging: EachPlace<Staging>
    /// The store that was at the place and was renamed by a retirement or a withdrawal.
    package var renamed: EachPlace<RenamedStore>
    /// The run that the receipt beside each store names.
    package var receipts: EachPlace<Run>
    /// The copies that commands kept on purpose and named in their output.
    package var kept: Rows = []
    /// Every row whose commit returned to an app.
    package var acknowledged: Rows = []
    package var processes: [CommandProcess] = []
    /// What may still happen.
    package var budget: Budget

    /// What the world may still do to the commands; a replay has no limits.
    package struct Budget: Hashable, Sendable {
        package var crashes: UInt8
        package var powerCuts: UInt8
        /// The rows that apps have written and may still write.
        package var written: UInt8 = 0
        package var writes: UInt8

        package init(crashes: UInt8, powerCuts: UInt8, writes: UInt8) {
            (self.crashes, self.powerCuts, self.writes) = (crashes, powerCuts, writes)
        }
    }

    /// The old store with one row, and the new path as given.
    package init(new: StoreFile, other: StoreFile = .absent, budget: Budget) {
        stores = EachPlace(.absent)
        stores[.old] = StoreFile(rows: .first)
        stores[.new] = new
        stores[.other] = other
        journals = EachPlace(Journal())
        staging = EachPlace(Staging())
        renamed = EachPlace(RenamedStore())
        receipts = EachPlace(.none)
        acknowledged = Place.allCases.reduce([]) { [stores] in $0.union(stores[$1].rows) }
        self.budget = budget
    }
}

/// The main file at a place with its log and its external files, which always move together.
package struct StoreFile: Hashable, Sendable {
    package var isPresent = true
    package var rows: Rows = []
    /// The run whose fence refuses writers.
    package var fence = Run.none
    /// The run that renamed the file to its place; a replacement of content keeps the file.
    package var file = Run.none
    /// The run that gave the store its content; none for a store of an app.
    package var copy = Run.none
    /// The place from which that run copied.
    package var source: Place?
    /// The run whose merge the store contains, until the journal records it.
    package var mark = Run.none
    /// The read-only marker of a retirement.
    package var isSealed = false
    /// True until the folder is flushed after the rename to this name.
    package var isNameUnsynced = false
    /// True for a file that was published before its content was flushed.
    package var isContentUnsynced = false
    /// True once a power cut lost that content.
    package var isTorn = false

    package init(rows: Rows) { self.rows = rows }

    package static let absent: StoreFile = {
        var file = StoreFile(rows: [])
        file.isPresent = false
        return file
    }()
    package static let empty = StoreFile(rows: [])

    /// True if an app's write succeeds.
    package var takesWrites: Bool { isPresent && fence == .none && !isSealed }
}

/// A folder `.store-migrate-…` with the copy of a run.
package struct Staging: Hashable, Sendable {
    package var run = Run.none
    package var hasMain = false
    package var rows: Rows = []
    package var isSynced = false
    /// The copy of the store whose content the run replaces.
    package var hasDisplaced = false
    package var displaced: Rows = []
}

/// A retired or withdrawn store under its new name.
package struct RenamedStore: Hashable, Sendable {
    package var isPresent = false
    package var rows: Rows = []
    package var fence = Run.none
    package var file = Run.none
    package var copy = Run.none
    package var isNameUnsynced = false
    package var isRemovalUnsynced = false
    /// The rows in the archive of a retired store.
    package var archived: Rows = []
    package var hasArchive = false
}

/// A command that holds the lock of its journal; before that it has changed nothing and relies on nothing.
package struct CommandProcess: Hashable, Sendable {
    package var command: Verb
    package var program: Program
    /// The next instruction.
    package var step: UInt8 = 0
    package var run = Run.none
    /// The place whose journal the command locked first.
    package var home: Place
    /// The source of the run, beside which its journal is.
    package var from: Place
    package var to: Place
    /// The journals whose locks it holds, and the stores whose write locks it holds, as bits.
    package var journalLocks: UInt8 = 0
    package var storeLocks: UInt8 = 0

    package init(_ command: Verb, at home: Place) {
        (self.command, self.home, from, to) = (command, home, home, home == .new ? .new : .new)
        program = .decide
        journalLocks = home.bit
    }
}

extension Place {
    package var bit: UInt8 { 1 << rawValue }
}
