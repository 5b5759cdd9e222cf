public import StoreFormat

extension Finding.Code {
    /// A late write to the old store is not in the merged store.
    public static let lateWriteLost = Finding.Code(rawValue: "lateWriteLost")
    /// A relationship of an object that was inserted late is not the one in the old store.
    public static let lateReferenceLost = Finding.Code(rawValue: "lateReferenceLost")
    /// The history, or the relay, does not list an object that a merge changed.
    public static let mergeNotTold = Finding.Code(rawValue: "mergeNotTold")
    /// A program that had the store open during a merge shows other data than a restarted one.
    public static let mergeNotShown = Finding.Code(rawValue: "mergeNotShown")
    /// Repeating a merge would change the store again.
    public static let mergeRepeats = Finding.Code(rawValue: "mergeRepeats")
}

extension Finding {
    /// True for findings of the probe of late writes.
    package var isAboutLateWrites: Bool {
        [.lateWriteLost, .lateReferenceLost, .mergeNotTold, .mergeNotShown, .mergeRepeats].contains(code)
            || code == .keyMaximumBehind && level == .merging
    }

    /// The same finding, no more severe than this.
    package func lowered(to severity: Severity) -> Finding {
        var copy = self
        copy.severity = min(severity, self.severity)
        return copy
    }

    static func lateWritesNotTried(_ reason: String, at location: StoreLocation) -> Finding {
        Finding(
            .mergingNotTried,
            .warning,
            level: .merging,
            "the arrival of late writes to the old store could not be tested: \(reason)",
            path: location.path
        )
    }

    static func lateWriteLost(_ operation: ProbeStep.Operation, _ entity: String) -> Finding {
        late(.lateWriteLost, "an \(operation) of \(entity) in the old store did not reach the merged store", entity)
    }

    static func lateReferenceLost(_ entity: String, _ name: String) -> Finding {
        late(
            .lateReferenceLost,
            "a new \(entity) got another key in the merged store, and its \(name) was not updated",
            entity
        )
    }

    static func keyMaximumBehind(_ entity: String) -> Finding {
        late(.keyMaximumBehind, "the merged store would assign a key of \(entity) a second time", entity)
    }

    static func mergeNotTold(_ entity: String) -> Finding {
        late(.mergeNotTold, "the history of the merged store does not list the merge's changes of \(entity)", entity)
    }

    static func mergeNotShown(_ entity: String?) -> Finding {
        late(
            .mergeNotShown,
            "after a merge a program that had the store open shows other data than a restarted one"
                + (entity.map { " for \($0)" } ?? ""),
            entity
        )
    }

    static func mergeRepeats() -> Finding {
        late(.mergeRepeats, "repeating the merge would change the merged store again", nil)
    }

    private static func late(_ code: Code, _ message: String, _ entity: String?) -> Finding {
        Finding(code, .error, level: .merging, message, entity: entity)
    }
}
