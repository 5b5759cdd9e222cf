public import StoreAccess
import StoreStrategies
import StoreVerification

extension Finding.Code {
    /// A role's description requests writing, and the store opens read-only for it.
    public static let silentlyReadOnly = Finding.Code(rawValue: "silentlyReadOnly")
    /// The store cannot be opened with a role's description.
    public static let roleCannotOpen = Finding.Code(rawValue: "roleCannotOpen")
    /// A role keeps history and another does not.
    public static let historyDisagrees = Finding.Code(rawValue: "historyDisagrees")
    /// A save of one role never reached the other.
    public static let changeNotDelivered = Finding.Code(rawValue: "changeNotDelivered")
    /// A role's position in the relay was moved past notices that it had not merged.
    public static let relayPositionMoved = Finding.Code(rawValue: "relayPositionMoved")
    /// Notices name objects of a store with another UUID.
    public static let otherStoreNamed = Finding.Code(rawValue: "otherStoreNamed")
    /// An object that was saved is not in the store.
    public static let savedObjectLost = Finding.Code(rawValue: "savedObjectLost")
    /// A relationship that was saved is not in the store.
    public static let savedRelationshipLost = Finding.Code(rawValue: "savedRelationshipLost")
    /// A fetched results controller has other objects than a fresh fetch.
    public static let controllerDiffersFromFetch = Finding.Code(rawValue: "controllerDiffersFromFetch")
    /// An object shows values that its row no longer has.
    public static let staleObject = Finding.Code(rawValue: "staleObject")
    /// Merging the same changes twice has another result than merging them once.
    public static let repetitionHarms = Finding.Code(rawValue: "repetitionHarms")
}

extension Finding {
    private static func merging(_ code: Code, _ message: String, entity: String? = nil) -> Finding {
        Finding(code, .error, level: .merging, message, entity: entity)
    }

    static func silentlyReadOnly(_ role: StoreRole, reason: String) -> Finding {
        merging(.silentlyReadOnly, "\(role) should write, and its store is silently read-only: \(reason)")
    }

    static func roleCannotOpen(_ role: StoreRole, reason: String) -> Finding {
        merging(.roleCannotOpen, "\(role) cannot open the store with its description: \(reason)")
    }

    static func historyDisagrees(_ keeper: StoreRole, _ other: StoreRole) -> Finding {
        merging(
            .historyDisagrees,
            "\(keeper) keeps a history and \(other) does not, so that \(keeper) never receives what \(other) saved"
        )
    }

    static func notDelivered(
        _ operation: ProbeStep.Operation,
        _ entity: String,
        from writer: StoreRole,
        to reader: StoreRole
    ) -> Finding {
        merging(
            .changeNotDelivered,
            "\(writer) saved an \(operation) of \(entity), and \(reader) was never notified",
            entity: entity
        )
    }

    static func relayPositionMoved(_ reader: StoreRole) -> Finding {
        merging(
            .relayPositionMoved,
            "another process moved \(reader)'s position in the relay past notices that it has not merged"
        )
    }

    static func otherStoreNamed(_ writer: StoreRole, _ reader: StoreRole) -> Finding {
        merging(
            .otherStoreNamed,
            "the notices of \(writer) name objects of a store with another UUID, which \(reader) does not have"
        )
    }

    static func lostObject(_ entity: String, _ writer: StoreRole) -> Finding {
        merging(.savedObjectLost, "\(writer) saved a new \(entity), and the store does not contain it", entity: entity)
    }

    static func lostRelationship(_ entity: String, _ name: String, _ writer: StoreRole) -> Finding {
        merging(
            .savedRelationshipLost,
            "\(writer) saved the relationship \(entity).\(name), and the store does not contain all of it",
            entity: entity
        )
    }

    static func listDiffers(_ operation: ProbeStep.Operation, _ entity: String, _ reader: StoreRole) -> Finding {
        merging(
            .controllerDiffersFromFetch,
            "after an \(operation) a fetched results controller of \(reader) for \(entity) has other objects than a "
                + "fresh fetch: it considers only objects that its context had before",
            entity: entity
        )
    }

    static func orderDiffers(_ operation: ProbeStep.Operation, _ entity: String, _ reader: StoreRole) -> Finding {
        merging(
            .controllerDiffersFromFetch,
            "after an \(operation) a fetched results controller of \(reader) for \(entity) has another order than a fresh fetch",
            entity: entity
        )
    }

    static func staleValues(
        _ operation: ProbeStep.Operation,
        _ entity: String,
        _ names: [String],
        _ reader: StoreRole
    ) -> Finding {
        merging(
            .staleObject,
            "after an \(operation) \(reader) shows old values of \(entity) (\(names.joined(separator: ", "))): "
                + "its cached rows were not refreshed",
            entity: entity
        )
    }

    static func repetitionHarms(_ operation: ProbeStep.Operation, _ reader: StoreRole) -> Finding {
        merging(.repetitionHarms, "when an \(operation) is reported a second time, \(reader) shows other data")
    }
}
