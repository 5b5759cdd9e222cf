/// The keys of a configuration file and the environment; each is the option of `share` and `plan` of the same name.
enum ConfigurationKey: String, CaseIterable {
    case group
    case name
    case groups
    case previous
    case onSeveral = "on-several"
    case old
    case onBoth = "on-both"
    case level
    case model
    case migrate
    case version
    case ifMissing = "if-missing"
    case ifBusy = "if-busy"
    case lockTimeout = "lock-timeout"
    case state
    case strategies
    case roles
    case pluginPath = "plugin-path"
    case pluginSandbox = "plugin-sandbox"
    case pluginTimeout = "plugin-timeout"
    case confirm
    case resolver
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

    /// The environment variable.
    var variable: String {
        "STORE_MIGRATE_" + rawValue.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// True for keys whose value is a list.
    var isList: Bool { separator != nil }

    /// The separator of list elements in the environment variable; nil for keys that are not lists.
    var separator: Character? {
        switch self {
        case .strategies, .roles, .legacyKey: " "
        case .previous, .pluginPath, .legacyDefaults: ":"
        default: nil
        }
    }

    /// True for paths; a relative path starts at the folder of the configuration file.
    var isPath: Bool {
        switch self {
        case .groups, .previous, .model, .state, .pluginPath, .confirm, .resolver, .backup, .descriptions,
            .legacyDefaults:
            true
        default: false
        }
    }

    /// True for keys that name the new store; a new store on the command line overrides all of them.
    var isPlace: Bool { self == .group || self == .name || self == .groups }
}
