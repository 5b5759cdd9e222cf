import Foundation
import RunReports
import SafeFiles
import StoreAccess
import StoreMigration
import TestSupport
import Testing

@testable import UpgradeRehearsal

@Suite("The file of a report")
struct ReportFileTests {
    private static let page = ReportPage(kicker: "", title: "Page", outcome: "done", tone: .good, lede: "")
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func url(_ name: String) -> URL { URL(filePath: scratch.path + "/" + name) }

    private func refusal(_ name: String, besides stores: [StoreLocation] = []) throws -> MigrationOutcome {
        let error = #expect(throws: MigrationError.self) { try ReportFile(url(name), besides: stores) }
        return try #require(error?.outcome)
    }

    @Test("A report is written completely, readable by its owner alone, and replaces an earlier report")
    func written() throws {
        let file = try ReportFile(url("report.html"), besides: [])
        for title in ["One", "Two"] {
            var page = Self.page
            page.title = title
            try file.write(page)
            #expect(try String(decoding: scratch.bytes("report.html"), as: UTF8.self) == page.html)
            #expect(try scratch.directory.status(of: "report.html")?.mode == 0o600)
        }
        #expect(try scratch.directory.entries() == ["report.html"])
        #expect(throws: Never.self) { try ReportFile(url("report.html"), besides: []) }
    }

    @Test(
        "A file that is not a report is never replaced: a store, another page, a folder, a link, a file with two names"
    )
    func refused() throws {
        try scratch.makeStore("CREATE TABLE t(x)", as: "store.sqlite")
        try scratch.write("other.html", Array("<!DOCTYPE html><title>mine</title>".utf8))
        _ = try scratch.directory.createDirectory("folder", mode: 0o755)
        try scratch.write("report.html", Array(Self.page.html.utf8))
        try FileManager.default.createSymbolicLink(at: url("link.html"), withDestinationURL: url("report.html"))
        for name in ["store.sqlite", "other.html", "folder", "link.html"] {
            #expect(try refusal(name) == .usage, "\(name)")
        }
        try FileManager.default.linkItem(at: url("report.html"), to: url("second.html"))
        #expect(try refusal("report.html") == .usage)
    }

    @Test(
        "A name that a store may need is refused, whether it exists or not",
        arguments: ["Habits.sqlite", "Habits.sqlite-wal", ".Habits_SUPPORT"]
    )
    func names(_ name: String) throws {
        let store = scratch.location("Habits.sqlite")
        #expect(try refusal(name, besides: [store]) == .usage)
        #expect(throws: Never.self) { try ReportFile(url("Habits.html"), besides: [store]) }
    }

    @Test("A missing folder is reported before the run")
    func missingFolder() throws {
        #expect(try refusal("missing/report.html") != .shared)
        #expect(try scratch.directory.entries() == [])
    }

    @Test("A file that was created at its path during the run is not replaced")
    func takenMeanwhile() throws {
        let file = try ReportFile(url("report.html"), besides: [])
        try scratch.write("report.html", Array("SQLite format 3".utf8))
        #expect(throws: MigrationError.self) { try file.write(Self.page) }
        #expect(try scratch.bytes("report.html") == Array("SQLite format 3".utf8))
    }

    @Test("An empty file is replaced and made private")
    func empty() throws {
        try scratch.write("empty.html", [])
        try ReportFile(url("empty.html"), besides: []).write(Self.page)
        #expect(try scratch.directory.status(of: "empty.html")?.mode == 0o600)
    }
}
