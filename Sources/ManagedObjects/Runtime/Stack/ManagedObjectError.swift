public import ChangeMerging

/// An error of the runtime.
///
/// The message names entities, properties and files, never the value of a row.
public struct ManagedObjectError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, with Core Data's number if there is one.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A required property has no value.
        public static let missingMandatoryProperty = Code(rawValue: 1570)
        /// A to-many relationship has fewer destinations than the model requires.
        public static let relationshipLacksMinimumCount = Code(rawValue: 1580)
        /// A to-many relationship has more destinations than the model allows.
        public static let relationshipExceedsMaximumCount = Code(rawValue: 1590)
        /// A relationship with the delete rule Deny still has destinations.
        public static let relationshipDeniesDeletion = Code(rawValue: 1600)
        /// Several objects are invalid.
        public static let multipleValidationErrors = Code(rawValue: 1560)
        /// The model has no such entity or property, or the property is of another kind.
        public static let unknownProperty = Code(rawValue: 134_060)
        /// The value is not of the property's type.
        public static let wrongType = Code(rawValue: 134_061)
        /// An ID, a URI or an object belongs to another store or context.
        public static let foreignObject = Code(rawValue: 134_062)
        /// The object's row no longer exists.
        public static let objectIsGone = Code(rawValue: 133_000)
        /// The same objects were changed elsewhere.
        public static let mergeConflict = Code(rawValue: 133_020)
        /// Two objects have the same value for a unique property.
        public static let constraintConflict = Code(rawValue: 133_021)
        /// A save could not be completed.
        public static let save = Code(rawValue: 134_030)
        /// The store cannot be written.
        public static let readOnlyStore = Code(rawValue: 134_031)
        /// The store could not be opened.
        public static let open = Code(rawValue: 134_080)
        /// The store belongs to another model.
        public static let incompatibleModel = Code(rawValue: 134_100)
        /// An external data file is missing or unreadable.
        public static let missingExternalData = Code(rawValue: 134_063)
        /// The stores are closed because the process is about to be suspended.
        public static let suspended = Code(rawValue: 134_064)
        /// The requested history was purged.
        public static let historyTokenExpired = Code(rawValue: 134_301)
    }

    public let code: Code
    /// What failed and what to do, as a lower-case sentence.
    public let message: String
    /// The objects that the error concerns.
    public let objectIDs: [ManagedObjectID]

    public init(_ code: Code, _ message: String, objectIDs: [ManagedObjectID] = []) {
        self.code = code
        self.message = message
        self.objectIDs = objectIDs
    }

    public var description: String { "\(message) (\(code.rawValue))" }
}

/// A save under the policy `error` failed without writing: the same objects were saved elsewhere since they were read.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
    public let conflicts: [MergeConflict<ManagedObjectID, PropertyValue>]

    /// Core Data's number of this error.
    public var code: ManagedObjectError.Code { .mergeConflict }

    public var description: String {
        "\(conflicts.count) of the objects were changed elsewhere since they were read\(contested); "
            + "choose a merge policy, or refresh and save again (\(code.rawValue))"
    }

    /// The properties that both sides changed, if any.
    private var contested: String {
        let names = conflicts.flatMap { conflict in
            conflict.merge.contestedProperties.map { "\(conflict.object.entityName).\($0)" }
        }
        return names.isEmpty ? "" : " (both changed \(Set(names).sorted().joined(separator: ", ")))"
    }
}

/// A save under the policy `error` failed without writing: another object has the same unique values.
public struct SaveConstraintConflict: Error, Sendable, CustomStringConvertible {
    /// The object that could not be saved.
    public let objectID: ManagedObjectID
    /// The names of the constraint's properties.
    public let constraint: [String]
    /// The object that has the values, if it is in the store.
    public let databaseObjectID: ManagedObjectID?

    /// Core Data's number of this error.
    public var code: ManagedObjectError.Code { .constraintConflict }

    public var description: String {
        "another \(objectID.entityName) has the same \(constraint.joined(separator: ", ")) (\(code.rawValue))"
    }
}

/// A save to several stores of which some were committed before another store's commit failed.
///
/// Contexts adopt the committed part, so that the next save does not write it again, and then throw ``error``.
struct PartlySaved: Error {
    /// The outcome in the committed stores.
    let outcome: SaveOutcome
    /// The UUIDs of these stores.
    let stores: Set<String>
    let error: any Error
}
