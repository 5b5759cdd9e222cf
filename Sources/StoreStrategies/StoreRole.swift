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
