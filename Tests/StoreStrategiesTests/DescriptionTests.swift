import FoundationEssentials
import StoreStrategies
import Testing

@Suite("Descriptions and changes of them")
struct DescriptionTests {
    private static let everything = DescriptionChanges.setting {
        $0.configuration = "Local"
        $0.isReadOnly = true
        $0.timeout = 3.5
        $0.shouldAddStoreAsynchronously = true
        $0.shouldMigrateStoreAutomatically = false
        $0.shouldInferMappingModelAutomatically = false
        $0.sqlitePragmas = ["journal_mode": "WAL", "synchronous": "FULL"]
        $0.isHistoryTrackingEnabled = true
        $0.postsRemoteChangeNotifications = true
        $0.fileProtection = .completeUnlessOpen
        $0.posixMode = 0o660
        $0.posixGroup = "staff"
        $0.usesPersistentWriteAheadLog = true
        $0.isExcludedFromBackup = true
    }

    @Test("A description with only a URL decodes with Core Data's defaults")
    func defaults() throws {
        let json = Data(#"{"url": "file:///group/Habits.sqlite"}"#.utf8)
        let description = try JSONDecoder().decode(PersistentStoreDescription.self, from: json)
        #expect(description == .sample)
        #expect(description.shouldMigrateStoreAutomatically)
    }

    @Test("Every setting is in the description and in its JSON")
    func roundTrip() throws {
        let changed = Self.everything.applied(to: .sample)
        let data = try JSONEncoder().encode(changed)
        #expect(try JSONDecoder().decode(PersistentStoreDescription.self, from: data) == changed)
        let changes = try JSONEncoder().encode(Self.everything)
        #expect(try JSONDecoder().decode(DescriptionChanges.self, from: changes) == Self.everything)
        #expect(changed.posixMode == 0o660 && changed.fileProtection == .completeUnlessOpen)
        #expect(changed.timeout == 3.5 && changed.configuration == "Local")
    }

    @Test("Each option changes only its member, and a strategy may set it")
    func each() throws {
        let all = try JSONEncoder().encode(Self.everything)
        let members = try JSONDecoder().decode([String: Member].self, from: all)
        #expect(members.count == 14)
        for (name, value) in members {
            let json = try JSONEncoder().encode([name: value])
            let changes = try JSONDecoder().decode(DescriptionChanges.self, from: json)
            let options = changes.values.keys.map(\.rawValue)
            #expect(options.allSatisfy { $0 == name || $0.hasPrefix(name + ".") }, "\(name)")
            #expect(changes.values.keys.allSatisfy { $0.isSettable }, "\(name)")
            #expect(changes.applied(to: .sample) != .sample, "\(name)")
        }
    }

    @Test(
        "Changes with an unknown member are not decoded",
        arguments: [#"{"url": "file:///etc/passwd"}"#, #"{"modelFile": "/m"}"#, #"{"isReadonly": true}"#]
    )
    func strange(_ json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DescriptionChanges.self, from: Data(json.utf8))
        }
    }

    @Test("Roles are written as people write them", arguments: [StoreRole.app, .extension("widget")])
    func roles(_ role: StoreRole) throws {
        #expect(StoreRole(role.description) == role)
        #expect(StoreRole("extension()") == nil)
        #expect(StoreRole("App") == nil)
    }

    @Test("Permission bits are octal digits", arguments: [("0660", UInt32(0o660)), ("600", 0o600), ("02770", 0o2770)])
    func modes(_ text: String, _ bits: UInt32) {
        #expect(PosixMode.bits(text) == bits)
        #expect(PosixMode.bits(PosixMode.text(bits)) == bits)
        for wrong in ["", "rw", "8", "-1", "1234567"] { #expect(PosixMode.bits(wrong) == nil) }
    }

    /// Any JSON value of a change.
    private enum Member: Codable {
        case flag(Bool)
        case number(Double)
        case text(String)
        case map([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self = .flag(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else {
                self = .map(try container.decode([String: String].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .flag(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            case .map(let value): try container.encode(value)
            }
        }
    }
}
