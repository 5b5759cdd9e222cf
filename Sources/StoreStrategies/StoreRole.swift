/// A program that opens a shared store.
public enum StoreRole: Hashable, Sendable {
    /// The app itself.
    case app
    /// An extension of the app, by name.
    case `extension`(String)
}

extension StoreRole: LosslessStringConvertible {
    /// Creates a role from `app` or `extension(name)`.
    public init?(_ description: String) {
        if description == "app" {
            self = .app
        } else if description.hasPrefix("extension("), description.hasSuffix(")") {
            let name = description.dropFirst("extension(".count).dropLast()
            guard !name.isEmpty else { return nil }
            self = .extension(String(name))
        } else {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .app: "app"
        case .extension(let name): "extension(\(name))"
        }
    }
}

extension StoreRole: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let role = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a role is 'app' or 'extension(name)'"
            )
        }
        self = role
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A program that opens the store, with the model it carries.
public struct ProgramRole: Hashable, Sendable, Codable {
    public var role: StoreRole
    /// The path of the model; nil when the caller does not say.
    public var modelFile: String?

    public init(_ role: StoreRole, modelFile: String? = nil) {
        self.role = role
        self.modelFile = modelFile
    }

    /// The app, with an unknown model.
    public static let app = ProgramRole(.app)

    /// An extension of the app.
    public static func `extension`(_ name: String, modelFile: String? = nil) -> ProgramRole {
        ProgramRole(.extension(name), modelFile: modelFile)
    }
}

/// How one role opens a store, and the strategies that decided it.
public struct RoleDescription: Hashable, Sendable, Codable {
    /// A strategy that applied.
    public struct Applied: Hashable, Sendable, Codable {
        public let strategy: String
        public let changes: DescriptionChanges
    }

    /// A strategy that did not apply to this role.
    public struct Skipped: Hashable, Sendable, Codable {
        public let strategy: String
        public let reason: String
    }

    public let role: StoreRole
    public internal(set) var description: PersistentStoreDescription
    public internal(set) var applied: [Applied] = []
    public internal(set) var skipped: [Skipped] = []

    package init(role: StoreRole, description: PersistentStoreDescription) {
        self.role = role
        self.description = description
    }
}
