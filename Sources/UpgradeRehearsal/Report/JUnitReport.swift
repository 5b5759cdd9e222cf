public import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreMigration

/// The reports of a rehearsal as JUnit XML, as build servers read it: a suite for each folder, a case for each scenario.
public struct JUnitReport: Sendable {
    private let reports: [ScenarioReport]

    public init(_ reports: [ScenarioReport]) { self.reports = reports }

    /// The XML, which is well-formed for any content of the reports.
    public var xml: String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites\(counts(of: reports))>"]
        var folders: [String] = []
        for report in reports where !folders.contains(folder(of: report)) { folders.append(folder(of: report)) }
        for folder in folders {
            let cases = reports.filter { self.folder(of: $0) == folder }
            lines.append("  <testsuite name=\"\(Self.escaped(folder))\"\(counts(of: cases))>")
            for report in cases { lines += testCase(report, in: folder) }
            lines.append("  </testsuite>")
        }
        return (lines + ["</testsuites>", ""]).joined(separator: "\n")
    }

    private func folder(of report: ScenarioReport) -> String {
        report.path.lastIndex(of: "/").map { String(report.path[..<$0]) } ?? "scenarios"
    }

    private func counts(of reports: [ScenarioReport]) -> String {
        let failed = reports.count { $0.result == .failed }
        let errors = reports.count { [.notRun, .invalid].contains($0.result) }
        let seconds = reports.map(\.seconds).reduce(0, +)
        return " tests=\"\(reports.count)\" failures=\"\(failed)\" errors=\"\(errors)\" time=\"\(Self.time(seconds))\""
    }

    private func testCase(_ report: ScenarioReport, in folder: String) -> [String] {
        let name = Self.escaped(report.name)
        var lines = [
            "    <testcase name=\"\(name)\" classname=\"\(Self.escaped(folder))\" time=\"\(Self.time(report.seconds))\">",
            "      <properties>", property("about", report.about),
        ]
        lines += report.story.map { property("story", $0) }
        lines.append("      </properties>")
        for failure in report.failures {
            let message = "\(failure.line):\(failure.column) \(failure.title): expected \(failure.expected)"
            let text = "found \(failure.found)\n\(failure.said)"
            lines.append(
                "      <failure type=\"expectation\" message=\"\(Self.escaped(message))\">\(Self.escaped(text))</failure>"
            )
        }
        if let reason = report.reason {
            lines.append("      <error type=\"\(report.result.rawValue)\" message=\"\(Self.escaped(reason))\"/>")
        }
        return lines + ["    </testcase>"]
    }

    private func property(_ name: String, _ value: String) -> String {
        "        <property name=\"\(name)\" value=\"\(Self.escaped(value))\"/>"
    }

    /// Seconds with three digits after the point.
    private static func time(_ seconds: Double) -> String {
        let thousandths = Int64((seconds * 1000).rounded())
        return "\(thousandths / 1000).\("\(thousandths % 1000 + 1000)".dropFirst())"
    }

    /// Text for a value or an element; characters that XML does not allow are written as their number.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n", "\t", "\r": result += "&#\(scalar.value);"
            default:
                let isAllowed = scalar.value >= 0x20 && ![0xFFFE, 0xFFFF].contains(scalar.value & 0xFFFF)
                if isAllowed {
                    result.unicodeScalars.append(scalar)
                } else {
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                }
            }
        }
        return result
    }
}

extension JUnitReport {
    /// Throws where the XML could not be written, before scenarios run for it; a `MigrationError` for a missing folder.
    public static func requireWritable(_ url: URL) throws {
        let location = StoreLocation(url: url)
        do {
            let folder = try Directory.open(path: location.folder)
            let status = try folder.status(of: location.name)
            guard status == nil || status?.kind == .regular else {
                throw RehearsalFailure("the report cannot be written to \(location.path): it is no regular file")
            }
            guard try folder.allowsWriting() else {
                throw RehearsalFailure("the report cannot be written to \(location.path) by this user")
            }
        } catch let error as FileError {
            throw MigrationError(error)
        }
    }

    /// Writes the XML to a file, replacing an existing one; the folder must exist.
    public func write(to url: URL) throws {
        let location = StoreLocation(url: url)
        do {
            try Directory.open(path: location.folder).replace(location.name, with: Array(xml.utf8), mode: 0o644)
        } catch {
            throw RehearsalFailure("the report cannot be written to \(location.path) (\(error))")
        }
    }
}
