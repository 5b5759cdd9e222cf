/// What the runtime refuses, and why.
///
/// The message names entities, properties and files, never the value of a row.
public struct ManagedObjectError: Error, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong, with Core Data's number where it has one.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A required property has no value.
        public static let missingMandatoryProperty = Code(rawValue: 1570)
        /// A to-many relationship leads to fewer objects than the model asks for.
        public static let relationshipLacksMinimumCount = Code(rawValue: 1580)
        /// A to-many relationship leads to more objects than the model allows.
        public static let relationshipExceedsMaximumCount = Code(rawValue: 1590)
        /// An object may not be deleted while a relationship of it leads somewhere.
        public static let relationshipDeniesDeletion = Code(rawValue: 1600)
        /// Several objects are not valid.
        public static let multipleValidationErrors = Code(rawValue: 1560)
        /// The model has no such entity or property, or the property is of another kind.
        public static let unknownProperty = Code(rawValue: 134_060)
        /// The value is not of the property's type.
        public static let wrongType = Code(rawValue: 134_061)
        /// An id, a URI or an object belongs to a store or a context that is not this one.
        public static let foreignObject = Code(rawValue: 134_062)
        /// There is no row for the object any more.
        public static let objectIsGone = Code(rawValue: 133_000)
        /// Others changed the same objects.
        public static let mergeConflict = Code(rawValue: 133_020)
        /// Two objects have the same value where the model says that it is unique.
        public static let constraintConflict = Code(rawValue: 133_021)
        /// A save could not be brought to an end.
        public static let save = Code(rawValue: 134_030)
        /// The store cannot be written.
        public static let readOnlyStore = Code(rawValue: 134_031)
        /// The store could not be opened.
        public static let open = Code(rawValue: 134_080)
        /// The store belongs to another model.
        public static let incompatibleModel = Code(rawValue: 134_100)
        /// A file of external data is missing or cannot be read.
        public static let missingExternalData = Code(rawValue: 134_063)
        /// The history that a token asks for was purged.
        public static let historyTokenExpired = Code(rawValue: 134_301)
    }

    public let code: Code
    /// A lower-case sentence that says what failed and what to do.
    public let message: String
    /// The objects it is about.
    public let objectIDs: [ManagedObjectID]

    public init(_ code: Code, _ message: String, objectIDs: [ManagedObjectID] = []) {
        self.code = code
        self.message = message
        self.objectIDs = objectIDs
    }

    public var description: String { "\(message) (\(code.rawValue))" }
}
