// swift-tools-version: 6.2

import PackageDescription

/// Settings of every target: Swift 6, the upcoming features we rely on, no warning tolerated.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// The modules that `make verify` optimizes.
///
/// The tests spend most of their time in them, and an optimized build of all modules takes longer than it saves.
let optimized: Set<String> =
    Context.environment["STORE_MIGRATE_OPTIMIZED"] == "1"
    ? ["SafeFiles", "StoreAccess", "StoreFormat", "ProtocolModel"] : []

/// The frontend's own option prevails over the `-Onone` of the command line.
func settings(of target: String) -> [SwiftSetting] {
    strict + (optimized.contains(target) ? [.unsafeFlags(["-Xfrontend", "-O"])] : [])
}

/// The settings of a target of tests.
///
/// A release compiles a module as a whole, and checks its types on one processor. The largest tests are the last module
/// of the build, while the other processors are idle; compiled file by file, they use all.
func settings(ofTests target: String) -> [SwiftSetting] {
    let isLast = !optimized.isEmpty && target == "StoreMigrateTests"
    return strict + (isLast ? [.unsafeFlags(["-no-whole-module-optimization", "-enable-batch-mode"])] : [])
}

let strictC: [CSetting] = [.treatAllWarnings(as: .error)]

extension Target {
    /// A module of the house; what it may import is what it lists here, and the build holds it to that.
    static func module(_ name: String, _ dependencies: [Dependency] = []) -> Target {
        .target(name: name, dependencies: dependencies, swiftSettings: settings(of: name))
    }

    /// A thin C module: what Swift's importer cannot see.
    static func thinC(_ name: String, links libraries: String...) -> Target {
        .target(
            name: name,
            cSettings: strictC,
            linkerSettings: libraries.map { .linkedLibrary($0) }
        )
    }

    /// A strategy plugin in `Plugins/`: it sees the public contract and nothing else, and the build holds it to that.
    static func strategy(_ name: String) -> Target {
        .target(
            name: name,
            dependencies: ["StoreStrategies"],
            path: "Plugins/\(name)",
            packageAccess: false,
            swiftSettings: strict
        )
    }

    /// A part of a demonstration in `Fixtures`: it sees what any client of the package sees.
    static func demonstration(
        _ name: String,
        in folder: String = "HabitCalendar/",
        isExecutable: Bool = false,
        _ dependencies: [Dependency]
    ) -> Target {
        let path = "Fixtures/\(folder)\(name)"
        return isExecutable
            ? .executableTarget(
                name: name,
                dependencies: dependencies,
                path: path,
                packageAccess: false,
                swiftSettings: strict
            )
            : .target(name: name, dependencies: dependencies, path: path, packageAccess: false, swiftSettings: strict)
    }

    static func tests(_ name: String, _ dependencies: [Dependency]) -> Target {
        .testTarget(name: name, dependencies: dependencies, swiftSettings: settings(ofTests: name))
    }
}

extension Target.Dependency {
    static var grdb: Self { .product(name: "GRDB", package: "GRDB.swift") }
    static var systemPackage: Self { .product(name: "SystemPackage", package: "swift-system") }
    static var logging: Self { .product(name: "Logging", package: "swift-log") }
    static var arguments: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
}

/// The strategies in `Plugins/`.
let strategies = [
    "FileProtection", "HistoryTracking", "LightweightMigration", "ReadOnlyExtension", "RollbackJournal", "SharedAccess",
    "WriteAheadLog",
]

/// The fuzzers, only when asked for: they link libFuzzer, which a plain build does without.
let fuzzers: [Target] =
    Context.environment["STORE_MIGRATE_FUZZERS"] == nil
    ? []
    : [
        .target(name: "CFuzzing", path: "Tests/CFuzzing", cSettings: strictC),
        .executableTarget(
            name: "fuzzers",
            dependencies: [
                "CFuzzing", "StoreVerification", "ManagedObjects", "ChangeRelay", "StoreBackup", "StoreFixtures",
                "StoreWriting", "StoreFormat", "StoreAccess", "StrategyProcess", "StoreStrategies", "SafeFiles",
                "TestSupport", "UpgradeRehearsal",
            ],
            path: "Tests/FuzzersProgram",
            exclude: ["fuzz", "kept-for-good"],
            swiftSettings: strict
        ),
    ]

/// The modules from top to bottom: a module depends only on modules of lower rows.
let rows = [
    ["store-migrate", "generate-managed-objects", "RehearsalTesting"],
    ["UpgradeRehearsal", "StoreMigrationTesting", "BuiltInStrategies"],
    ["StoreMigration"],
    ["MergeProbing"],
    ["ManagedObjects", "ManagedObjectGeneration"],
    ["ChangeMerging", "ChangeRelay", "StoreBackup", "StoreFixtures", "ModelMigration"],
    ["StoreWriting"],
    ["StoreVerification"],
    ["StoreFormat"],
    ["StoreAccess", "StrategyProcess", "RunReports"],
    ["SafeFiles", "ChildProcesses", "StoreStrategies"],
    ["NearNames"],
]

let package = Package(
    name: "store-migrate",
    products: [
        .library(
            name: "StoreMigration",
            targets: ["StoreMigration", "ModelMigration", "StoreFormat", "StoreAccess", "ChangeMerging"]
        ),
        .library(
            name: "ManagedObjects",
            targets: ["ManagedObjects", "ChangeRelay", "StoreFormat", "StoreAccess", "ChangeMerging"]
        ),
        .library(name: "ChangeRelay", targets: ["ChangeRelay", "StoreFormat", "StoreAccess"]),
        .library(name: "StoreBackup", targets: ["StoreBackup", "StoreFormat", "StoreAccess"]),
        .library(
            name: "StoreVerification",
            targets: ["StoreVerification", "MergeProbing", "StoreFormat", "StoreAccess"]
        ),
        .library(name: "StoreStrategies", targets: ["StoreStrategies"]),
        .library(name: "StrategyProcess", targets: ["StrategyProcess", "StoreStrategies"]),
        .library(name: "BuiltInStrategies", targets: ["BuiltInStrategies", "StoreStrategies"]),
        .library(name: "StoreMigrationTesting", targets: ["StoreMigrationTesting", "StoreStrategies"]),
        .library(
            name: "UpgradeRehearsal",
            targets: ["UpgradeRehearsal", "RehearsalTesting", "StoreFixtures", "RunReports"]
        ),
        .plugin(name: "RehearseUpgrades", targets: ["RehearseUpgrades"]),
        .plugin(name: "GenerateManagedObjects", targets: ["GenerateManagedObjects"]),
        .executable(name: "store-migrate", targets: ["store-migrate"]),
        // Preloaded by FaultTests into the tool; of no use to anybody else.
        .library(name: "FaultShim", type: .dynamic, targets: ["CFaultShim"]),
        // Preloaded by the explorer of interleavings.
        .library(name: "InterleavingShim", type: .dynamic, targets: ["CInterleavingShim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: strategies.map { .strategy($0) } + [
        // C
        .thinC("CArchive", links: "archive"),
        .thinC("CConfinement"),
        .thinC("CICU", links: "icui18n", "icuuc"),
        .thinC("CLinux"),
        .thinC("CNettle", links: "nettle"),
        .thinC("CSQLite", links: "sqlite3"),
        .thinC("CYAML", links: "yaml"),
        .thinC("CZlib", links: "z"),

        // ground
        .module("SafeFiles", ["CLinux", .systemPackage]),
        .module("ChildProcesses", ["CConfinement"]),
        .module("NearNames"),
        .module("StoreStrategies", ["NearNames"]),
        // access
        .module("StoreAccess", ["SafeFiles", "CNettle", "CSQLite", .systemPackage]),
        .module("RunReports"),
        .module("StrategyProcess", ["ChildProcesses", "SafeFiles", "StoreStrategies", "CConfinement", .systemPackage]),
        // read
        .module("StoreFormat", ["StoreAccess", "SafeFiles", "CZlib", .systemPackage]),
        // prove
        .module("StoreVerification", ["StoreFormat", "StoreAccess", "SafeFiles", "CSQLite"]),
        // write
        .module("StoreWriting", ["StoreFormat", "StoreAccess", "SafeFiles", "CSQLite", "CZlib", .systemPackage]),
        // change
        .module("ChangeMerging", ["StoreWriting", "StoreFormat", "StoreAccess", "NearNames", "SafeFiles", "CSQLite"]),
        .module("ChangeRelay", ["StoreWriting", "StoreFormat", "StoreAccess", "SafeFiles", .systemPackage]),
        .module("StoreBackup", ["StoreFormat", "StoreAccess", "SafeFiles", "CArchive", .systemPackage]),
        .module(
            "StoreFixtures",
            [
                "StoreWriting", "StoreFormat", "StoreAccess", "NearNames", "SafeFiles", "CSQLite", "CYAML",
                .systemPackage,
            ]
        ),
        .module(
            "ModelMigration",
            ["StoreWriting", "StoreFormat", "StoreAccess", "SafeFiles", "CSQLite", .systemPackage]
        ),
        // live
        .module(
            "ManagedObjects",
            [
                "ChangeRelay", "ChangeMerging", "ModelMigration", "StoreWriting", "StoreFormat", "StoreAccess",
                "StoreStrategies", "NearNames", "SafeFiles", "CICU", .systemPackage,
            ]
        ),
        .module("ManagedObjectGeneration", ["StoreFixtures", "StoreFormat", "StoreAccess", "SafeFiles"]),
        .executableTarget(
            name: "generate-managed-objects",
            dependencies: ["ManagedObjectGeneration", "SafeFiles", .systemPackage],
            swiftSettings: strict
        ),
        .plugin(
            name: "GenerateManagedObjects",
            capability: .buildTool(),
            dependencies: ["generate-managed-objects"]
        ),
        // probe
        .module(
            "MergeProbing",
            [
                "ManagedObjects", "ChangeMerging", "ChangeRelay", "StoreWriting", "StoreVerification", "StoreFormat",
                "StoreAccess", "ChildProcesses", "StoreStrategies", "SafeFiles",
            ]
        ),
        // act
        .module(
            "StoreMigration",
            [
                "MergeProbing", "StoreVerification", "ManagedObjects", "ChangeMerging", "ChangeRelay", "StoreBackup",
                "ModelMigration", "StoreWriting", "StoreFormat", "StoreAccess", "StrategyProcess", "StoreStrategies",
                "SafeFiles", "CSQLite", .systemPackage, .logging,
            ]
        ),
        // rehearse
        .module(
            "UpgradeRehearsal",
            [
                "StoreMigration", "StoreVerification", "ManagedObjects", "StoreFixtures", "StoreFormat", "StoreAccess",
                "RunReports", "StoreStrategies", "ChildProcesses", "SafeFiles", "CSQLite", "CConfinement",
                .systemPackage,
            ]
        ),
        // strategies
        .executableTarget(
            name: "store-migrate-strategy-PatientTimeout",
            dependencies: ["StrategyProcess", "StoreStrategies"],
            path: "Plugins/PatientTimeout",
            packageAccess: false,
            swiftSettings: strict
        ),
        .module("BuiltInStrategies", ["StoreStrategies"] + strategies.map { .target(name: $0) }),
        .module("StoreMigrationTesting", ["StoreStrategies"]),
        // What needs Swift Testing stands apart: the tool links none of it.
        .module("RehearsalTesting", ["UpgradeRehearsal", "StoreFixtures", "StoreAccess", "SafeFiles"]),
        .plugin(
            name: "RehearseUpgrades",
            capability: .command(
                intent: .custom(
                    verb: "rehearse-upgrades",
                    description: "Carries out the upgrade scenarios of this package with store-migrate."
                )
            )
        ),
        // tool
        .executableTarget(
            name: "store-migrate",
            dependencies: [
                "UpgradeRehearsal", "StoreMigration", "MergeProbing", "StoreVerification", "ManagedObjects",
                "ChangeMerging", "ChangeRelay", "StoreBackup", "ModelMigration", "ManagedObjectGeneration",
                "StoreFixtures", "StoreFormat", "StoreAccess", "BuiltInStrategies", "StrategyProcess", "RunReports",
                "StoreStrategies", "SafeFiles", "NearNames", "CLinux", .arguments, .logging, .systemPackage,
            ],
            packageAccess: false,
            swiftSettings: strict
        ),

        // the demonstration
        .demonstration(
            "HabitData",
            ["StoreMigration", "ManagedObjects", "BuiltInStrategies", "StoreStrategies", "StoreFormat"]
        ),
        .demonstration(
            "HabitApp",
            isExecutable: true,
            // The demonstration starts these two: one product builds all three.
            ["store-migrate", "HabitWidget", "HabitData", "ManagedObjects", "ChangeMerging", "StoreFormat", .arguments]
        ),
        .demonstration(
            "HabitWidget",
            isExecutable: true,
            ["HabitData", "ManagedObjects", "ChangeMerging", "StoreStrategies", "StoreFormat", .arguments]
        ),

        .demonstration(
            "FetchedResults",
            in: "",
            isExecutable: true,
            ["ManagedObjects", "StoreStrategies", "StoreFormat", .arguments]
        ),

        // tests
        .executableTarget(
            name: "store-writer",
            dependencies: ["CSQLite"],
            path: "Tests/StoreWriterProgram",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "relay-peer",
            dependencies: [
                "ManagedObjects", "ChangeRelay", "StoreFormat", "StoreAccess", "StoreStrategies", "SafeFiles",
            ],
            path: "Tests/RelayPeerProgram",
            swiftSettings: strict
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "CTestSupport", "StoreFormat", "StoreAccess", "ChildProcesses", "SafeFiles", .systemPackage,
            ],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .target(name: "CTestSupport", path: "Tests/CTestSupport", cSettings: strictC),
        .tests("ChildProcessesTests", ["TestSupport", "ChildProcesses"]),
        .tests("RunReportsTests", ["TestSupport", "RunReports"]),
        .tests("SafeFilesTests", ["TestSupport", "SafeFiles", "CLinux", "CTestSupport", .systemPackage]),
        .target(name: "CFaultShim", path: "Tests/CFaultShim", cSettings: strictC),
        .target(name: "ProtocolModel", path: "Tests/ProtocolModel", swiftSettings: settings(of: "ProtocolModel")),
        .tests("ProtocolModelTests", ["ProtocolModel", "TestSupport"]),
        .target(
            name: "FaultSupport",
            dependencies: [
                "TestSupport", "ProtocolModel", "StoreFixtures", "StoreAccess", "CFaultShim", "CLinux", "CTestSupport",
                "CSQLite", "ChildProcesses", "SafeFiles", .systemPackage,
            ],
            path: "Tests/FaultSupport",
            swiftSettings: strict
        ),
        .target(name: "CInterleavingTurn", path: "Tests/CInterleavingTurn", cSettings: strictC),
        .target(
            name: "CInterleavingShim",
            dependencies: ["CInterleavingTurn"],
            path: "Tests/CInterleavingShim",
            cSettings: strictC
        ),
        .target(
            name: "InterleavingExplorer",
            dependencies: [
                "CInterleavingTurn", "FaultSupport", "TestSupport", "ChildProcesses", "SafeFiles", .systemPackage,
            ],
            path: "Tests/InterleavingExplorer",
            swiftSettings: strict
        ),
        .tests(
            "InterleavingExplorerTests",
            ["InterleavingExplorer", "store-migrate", "store-writer", "TestSupport", "SafeFiles"]
        ),
        .tests("FaultTests", ["store-migrate", "proofs", "FaultSupport", "ProtocolModel", "TestSupport", "SafeFiles"]),
        .executableTarget(
            name: "proofs",
            dependencies: [
                "store-migrate", "store-writer", "FaultSupport", "InterleavingExplorer", "ProtocolModel", "TestSupport",
                "CSQLite", "SafeFiles", .arguments,
            ],
            path: "Tests/ProofsProgram",
            swiftSettings: strict
        ),
        .tests("StoreAccessTests", ["TestSupport", "StoreAccess", "CSQLite", "SafeFiles", .systemPackage]),
        .tests(
            "StoreFormatTests",
            ["TestSupport", "StoreFixtures", "StoreFormat", "StoreAccess", "SafeFiles", .systemPackage]
        ),
        .tests(
            "StoreWritingTests",
            [
                "TestSupport", "StoreVerification", "StoreWriting", "StoreFormat", "StoreAccess", "SafeFiles",
                .systemPackage,
            ]
        ),
        .tests(
            "ChangeMergingTests",
            [
                "TestSupport", "ChangeMerging", "StoreVerification", "ManagedObjects", "StoreStrategies",
                "StoreWriting", "StoreFormat", "StoreAccess", "SafeFiles",
            ]
        ),
        .tests(
            "ChangeRelayTests",
            [
                "relay-peer", "store-writer", "TestSupport", "ChangeRelay", "StoreWriting", "StoreFormat",
                "StoreAccess", "SafeFiles",
            ]
        ),
        .tests(
            "StoreBackupTests",
            [
                "store-migrate", "relay-peer", "store-writer", "TestSupport", "StoreBackup", "StoreVerification",
                "StoreFixtures", "StoreFormat", "StoreAccess", "SafeFiles", "CTestSupport", .systemPackage,
            ]
        ),
        .tests(
            "ModelMigrationTests",
            [
                "TestSupport", "ModelMigration", "StoreVerification", "StoreWriting", "StoreFixtures", "StoreFormat",
                "StoreAccess", "SafeFiles", .systemPackage,
            ]
        ),
        .tests(
            "StoreFixturesTests",
            ["TestSupport", "StoreFixtures", "StoreFormat", "StoreAccess", "SafeFiles", .systemPackage]
        ),
        .tests(
            "ManagedObjectsTests",
            [
                "relay-peer", "store-writer", "TestSupport", "CTestSupport", "ManagedObjects", "ChangeRelay",
                "ChangeMerging", "StoreVerification", "StoreWriting", "StoreFixtures", "StoreFormat", "StoreAccess",
                "StoreStrategies", "SafeFiles", .systemPackage,
            ]
        ),
        .testTarget(
            name: "ManagedObjectGenerationTests",
            dependencies: [
                "generate-managed-objects", "TestSupport", "ManagedObjectGeneration", "ManagedObjects", "StoreFixtures",
                "StoreFormat", "StoreAccess", "StoreStrategies", "SafeFiles",
            ],
            exclude: ["Habits.xcdatamodel"],
            swiftSettings: strict
        ),
        .tests(
            "StoreVerificationTests",
            [
                "TestSupport", "StoreVerification", "ManagedObjects", "StoreFixtures", "StoreFormat", "StoreAccess",
                "SafeFiles", "CSQLite", .systemPackage,
            ]
        ),
        .tests(
            "MergeProbingTests",
            [
                "TestSupport", "MergeProbing", "StoreVerification", "ManagedObjects", "ChangeRelay", "StoreFixtures",
                "StoreFormat", "StoreAccess", "StoreStrategies", "SafeFiles",
            ]
        ),
        .tests(
            "StrategyProcessTests",
            [
                "store-migrate-strategy-PatientTimeout", "TestSupport", "StrategyProcess", "StoreMigrationTesting",
                "StoreStrategies", "SafeFiles",
            ]
        ),
        .tests(
            "StoreStrategiesTests",
            ["TestSupport", "StoreStrategies", "BuiltInStrategies", "StoreMigrationTesting"]
        ),
        .tests(
            "StoreMigrationTests",
            [
                "relay-peer", "store-writer", "TestSupport", "StoreMigration", "ManagedObjects", "ChangeRelay",
                "StoreBackup", "StoreVerification", "BuiltInStrategies", "StoreFixtures", "StoreFormat", "StoreAccess",
                "StoreStrategies", "SafeFiles", .systemPackage, .logging, .grdb,
            ]
        ),
        .testTarget(
            name: "RehearsalTestingTests",
            dependencies: ["store-migrate", "RehearsalTesting", "UpgradeRehearsal", "StoreFixtures"],
            exclude: ["Scenarios"],
            packageAccess: false,
            swiftSettings: strict
        ),
        .testTarget(
            name: "UpgradeRehearsalTests",
            dependencies: [
                "store-migrate", "RehearsalTesting", "UpgradeRehearsal", "RunReports", "TestSupport", "StoreMigration",
                "StoreFixtures", "StoreAccess", "SafeFiles",
            ],
            exclude: ["WrongScenarios"],
            swiftSettings: strict
        ),
        .tests(
            "StoreMigrateTests",
            [
                "store-migrate", "HabitApp", "HabitWidget", "FetchedResults", "TestSupport", "UpgradeRehearsal",
                "RunReports", "BuiltInStrategies", "StrategyProcess", "StoreStrategies", "StoreMigration",
                "ModelMigration", "MergeProbing", "StoreVerification", "ManagedObjects", "ChangeRelay", "StoreFixtures",
                "StoreFormat", "StoreAccess", "ChildProcesses", "SafeFiles", .systemPackage,
            ]
        ),
    ] + fuzzers
)

for target in package.targets {
    guard let row = rows.firstIndex(where: { $0.contains(target.name) }) else { continue }
    for case .byNameItem(let name, _) in target.dependencies where rows[...row].joined().contains(name) {
        preconditionFailure("\(target.name) depends on \(name), which is not in a lower row")
    }
}
