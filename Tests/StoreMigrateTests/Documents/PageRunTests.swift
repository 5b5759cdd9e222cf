import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("Commands in the documentation", .verify)
struct PageRunTests {
    /// Stand-ins for programs that a page names and the build does not need.
    private static let standIns = ["age": "cat ${3:+\"$4\"}", "restic": "cat >/dev/null"]

    @Test(
        "Every command of a page gives the printed output, except for sizes and times",
        arguments: Page.all.filter { page in page.blocks.contains { ["sh", "transcript"].contains($0.kind) } }
    )
    func run(_ page: Page) async throws {
        let scratch = try Scratch()
        let environment = try Self.prepare(scratch)
        for block in page.blocks {
            let place: Comment = "\(page.path):\(block.line)"
            switch block.kind {
            case "sh":
                let run = try await Tool.run(
                    command: ["bash", "-euo", "pipefail", "-c", block.text],
                    environment: environment,
                    folder: scratch.path
                )
                #expect(run.status == 0, "\(page.path):\(block.line): \(run.output)\(run.errors)")
            case "transcript":
                var answer: [String] = []
                for command in block.lines.filter({ $0.hasPrefix("$ ") }).map({ String($0.dropFirst(2)) }) {
                    let run = try await Tool.run(
                        command: ["bash", "-c", command],
                        environment: environment,
                        folder: scratch.path
                    )
                    answer += ["$ " + command] + run.lines + run.errorLines
                    if run.status != 0 { answer.append("[exit status \(run.status)]") }
                }
                #expect(!answer.isEmpty, place)
                #expect(
                    answer.map { Page.shape($0, scratch.path) } == block.lines.map { Page.shape($0, scratch.path) },
                    place
                )
            default: break
            }
        }
    }

    /// A home folder with links to the tool, the fleet program, the fixtures and the plugins.
    private static func prepare(_ scratch: Scratch) throws -> [String: String] {
        // A plugin that root starts runs as the user nobody, who needs access to it.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
        let programs = try scratch.folder(".programs")
        let links = [
            (try Tool.path, programs + "/store-migrate"),
            (Tool.package + "/Fixtures/Deployment/share-fleet", programs + "/share-fleet"),
            (Tool.package + "/Fixtures", scratch.path("Fixtures")),
            (Tool.package + "/Plugins", scratch.path("Plugins")),
        ]
        for (target, link) in links {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        for (name, line) in standIns {
            let file = try scratch.file(".programs/" + name, Array("#!/bin/sh\n\(line)\n".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return ["HOME": scratch.path, "PATH": programs + ":" + path, "recipient": "age1"]
    }
}
