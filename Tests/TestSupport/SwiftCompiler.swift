import Foundation

/// Compiles files of an app that uses the library as it was just built.
package struct SwiftCompiler {
    /// The build folder, which contains the library's modules.
    private let products = URL(filePath: Checkout.products)

    package init() {}

    /// The compiler's diagnostics for the source; empty when it compiles.
    package func complaints(about source: String) throws -> String { try complaints(about: ["App.swift": source]) }

    /// The compiler's diagnostics for the files of one module, by their names.
    package func complaints(about sources: [String: String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-migrate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = sources.keys.sorted().map { folder.appendingPathComponent($0) }
        for file in files { try Data((sources[file.lastPathComponent] ?? "").utf8).write(to: file) }
        // Data isolation is checked after type-checking, when SIL is generated.
        let words = ["swiftc", "-emit-sil", "-whole-module-optimization", "-o", "/dev/null", "-swift-version", "6"]
        let output = try ChildProgram.run(words + searchPaths + files.map(\.path)).output
        return output.replacingOccurrences(of: folder.path + "/", with: "")
    }

    /// The public symbols of modules, as `Type.member(label:)`.
    package func publicNames(of modules: [String]) throws -> Set<String> {
        struct Graph: Decodable {
            struct Symbol: Decodable { let pathComponents: [String] }
            let symbols: [Symbol]
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-migrate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        #if arch(arm64)
        let target = "aarch64-unknown-linux-gnu"
        #else
        let target = "x86_64-unknown-linux-gnu"
        #endif
        var names: Set<String> = []
        for module in modules {
            let words = ["swift-symbolgraph-extract", "-module-name", module, "-target", target]
            let options = ["-minimum-access-level", "public", "-output-dir", folder.path]
            let run = try ChildProgram.run(words + options + searchPaths)
            guard run.status == 0 else { throw CocoaError(.fileReadUnknown, userInfo: ["output": run.output]) }
            // Extensions of another module's types have a file of their own, `module@other`.
            for file in ([module] + modules.map { "\(module)@\($0)" }) {
                let url = folder.appendingPathComponent(file + ".symbols.json")
                guard FileManager.default.fileExists(atPath: url.path) else { continue }
                let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: url))
                names.formUnion(graph.symbols.map { $0.pathComponents.joined(separator: ".") })
            }
        }
        return names
    }

    /// The built modules, and the module maps of the C modules that they import.
    private var searchPaths: [String] {
        let checkouts = products.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("checkouts")
        let folders = [
            products.appendingPathComponent("Modules"),
            checkouts.appendingPathComponent("swift-system/Sources/CSystem/include"),
        ]
        let maps = ["CArchive", "CConfinement", "CICU", "CLinux", "CNettle", "CSQLite", "CYAML", "CZlib"]
            .map { products.appendingPathComponent("\($0).build/module.modulemap") }
        return folders.flatMap { ["-I", $0.path] } + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
    }
}
