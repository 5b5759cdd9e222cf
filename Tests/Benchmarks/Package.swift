// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "store-migrate-benchmarks",
    dependencies: [
        .package(name: "store-migrate", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Ratios",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "ManagedObjects", package: "store-migrate"),
                .product(name: "StoreMigration", package: "store-migrate"),
                .product(name: "StoreStrategies", package: "store-migrate"),
                .product(name: "StoreVerification", package: "store-migrate"),
            ],
            path: "Benchmarks/Ratios",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        .executableTarget(
            name: "Latency",
            dependencies: [
                .product(name: "ManagedObjects", package: "store-migrate"),
                .product(name: "StoreStrategies", package: "store-migrate"),
            ],
            path: "Benchmarks/Latency",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
    ]
)
