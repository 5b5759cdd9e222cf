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
