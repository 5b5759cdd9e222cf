// swift-tools-version: 6.2

// Text for `Tests/Mutants/check`: each function shows what becomes of one kind of mutant.

import PackageDescription

let package = Package(
    name: "Sample",
    targets: [
        .target(name: "Sample", swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(name: "SampleTests", dependencies: ["Sample"]),
    ]
)
