import FoundationEssentials
import Testing

@Suite("The README's example")
struct ReadmeExampleTests {
    @Test("compiles as it stands there")
    func compiles() throws {
        let compiler = try #require(SwiftCompiler())
        let package = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try String(contentsOf: URL(filePath: package + "/README.md"), encoding: .utf8)
        let blocks = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        let example = try #require(blocks.first { $0.contains("import ManagedObjects") })
        #expect(try compiler.complaints(about: String(example)) == "")
    }
}
