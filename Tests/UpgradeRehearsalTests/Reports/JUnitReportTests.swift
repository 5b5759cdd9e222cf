import Foundation
import FoundationXML
import Testing

@testable import UpgradeRehearsal

@Suite("JUnit reports")
struct JUnitReportTests {
    private final class Elements: NSObject, XMLParserDelegate {
        var elements: [(name: String, attributes: [String: String])] = []
        var text = ""

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String] = [:]
        ) { elements.append((name, attributes)) }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }

    private static let nasty = "<&>\"' \u{0}\u{1}\u{1B}[0m\u{FFFE} ]]> 😀 ö\nnext\tline"

    private static func report(_ path: String, _ result: ScenarioReport.Result) -> ScenarioReport {
        ScenarioReport(
            name: nasty,
            path: path,
            about: nasty,
            story: ["F1", nasty],
            result: result,
            steps: [],
            failures: result == .failed
                ? [ScenarioFailure(line: 3, column: 4, title: nasty, expected: nasty, found: nasty, said: nasty)] : [],
            reason: result == .notRun ? nasty : nil,
            seconds: 1.2345,
            keptPlace: nil
        )
    }

    @Test("Any report is well-formed XML, with a suite per folder and a case per scenario")
    func parsed() throws {
        let xml = JUnitReport([
            Self.report("/a/x.yaml", .held), Self.report("/b/y.yaml", .failed), Self.report("/a/z.yaml", .notRun),
            Self.report("", .held),
        ])
        .xml
        let parser = XMLParser(data: Data(xml.utf8))
        let elements = Elements()
        parser.delegate = elements
        #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "") \(xml)")
        func all(_ name: String) -> [[String: String]] {
            elements.elements.filter { $0.name == name }.map(\.attributes)
        }
        #expect(all("testsuites") == [["tests": "4", "failures": "1", "errors": "1", "time": "4.938"]])
        #expect(all("testsuite").map { $0["name"] } == ["/a", "/b", "scenarios"])
        #expect(all("testsuite").map { $0["tests"] } == ["2", "1", "1"])
        #expect(all("testcase").count == 4)
        #expect(all("testcase").allSatisfy { $0["time"] == "1.235" && $0["name"]?.contains("<&>\"'") == true })
        #expect(all("property").filter { $0["name"] == "story" }.count == 8)
        #expect(all("failure").first?["message"]?.hasPrefix("3:4 <&>") == true)
        #expect(all("error").count == 1)
        #expect(elements.text.contains("😀 ö\nnext\tline"))
    }
}
