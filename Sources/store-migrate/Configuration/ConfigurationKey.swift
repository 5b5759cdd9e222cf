/// What a configuration file and the environment may decide; each is an option of `share` and `plan` of the same name.
enum ConfigurationKey: String, CaseIterable {
    case group
    case name
    case groups
    case old
    case onBoth = "on-both"
    case level
    case model
    case ifMissing = "if-missing"
    case ifBusy = "if-busy"
    case lockTimeout = "lock-timeout"
    case state
    case strategies
    case roles
    case pluginPath = "plugin-path"
    case pluginSandbox = "plugin-sandbox"
    case pluginTimeout = "plugin-timeout"
    case backup
    case descriptions
    case legacyDefaults = "legacy-defaults"
    case legacyKey = "legacy-key"

    /// The option on the command line.
    var option: String {
        switch self {
        case .strategies: "--strategy"
        case .roles: "--role"
        default: "--" + rawValue
        }
    }

    /// The environment's variable.
    var variable: String {
        "STORE_MIGRATE_" + rawValue.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// True for what is a list.
    var isList: Bool { separator != nil }

    /// What stands between the elements of a list in the environment; nil for what is none.
    var separator: Character? {
        switch self {
        case .strategies, .roles, .legacyKey: " "
        case .pluginPath, .legacyDefaults: ":"
        default: nil
        }
    }

    /// True for paths, which a file means from where it lies.
    var isPath: Bool {
        switch self {
        case .groups, .model, .state, .pluginPath, .backup, .descriptions, .legacyDefaults: true
        default: false
        }
    }

    /// True for what names the new place; a place on the command line takes all of them back.
    var isPlace: Bool { self == .group || self == .name || self == .groups }
}
