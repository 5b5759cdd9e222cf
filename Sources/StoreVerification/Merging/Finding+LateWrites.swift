public import StoreFormat

extension Finding.Code {
    /// What was written to the old place late is not in the merged store.
    public static let lateWriteLost = Finding.Code(rawValue: "lateWriteLost")
    /// An object that was inserted late does not lead where it led in the old place.
    public static let lateReferenceLost = Finding.Code(rawValue: "lateReferenceLost")
    /// Nobody was told that a merge changed an object: history, or the relay, does not list it.
    public static let mergeNotTold = Finding.Code(rawValue: "mergeNotTold")
    /// Who had the store open shows something else than a fresh start after a merge.
    public static let mergeNotShown = Finding.Code(rawValue: "mergeNotShown")
    /// A merge that was made finds something to do.
    public static let mergeRepeats = Finding.Code(rawValue: "mergeRepeats")
}

extension Finding {
    /// True for what the probe across two places finds.
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
            "whether late writes to the old place arrive could not be tried: \(reason)",
            path: location.path
        )
    }

    static func lateWriteLost(_ operation: ProbeStep.Operation, _ entity: String) -> Finding {
        late(.lateWriteLost, "an \(operation) of \(entity) in the old place did not reach the merged store", entity)
    }

    static func lateReferenceLost(_ entity: String, _ name: String) -> Finding {
        late(
            .lateReferenceLost,
            "a new \(entity) got another key in the merged store, and what its \(name) leads to was not followed",
            entity
        )
    }

    static func keyMaximumBehind(_ entity: String) -> Finding {
        late(.keyMaximumBehind, "the merged store would give a key of \(entity) out a second time", entity)
    }

    static func mergeNotTold(_ entity: String) -> Finding {
        late(.mergeNotTold, "the history of the merged store does not list what the merge did to \(entity)", entity)
    }

    static func mergeNotShown(_ entity: String?) -> Finding {
        late(
            .mergeNotShown,
            "after a merge a program that had the store open shows something else than a fresh start"
                + (entity.map { " for \($0)" } ?? ""),
            entity
        )
    }

    static func mergeRepeats() -> Finding {
        late(.mergeRepeats, "merging the same once more would change the merged store again", nil)
    }

    private static func late(_ code: Code, _ message: String, _ entity: String?) -> Finding {
        Finding(code, .error, level: .merging, message, entity: entity)
    }
}
