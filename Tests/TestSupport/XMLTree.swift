import Foundation
import FoundationXML

/// A document as another XML parser reads it.
package struct XMLTree: Sendable {
    package let name: String
    package let attributes: [String: String]
    package fileprivate(set) var children: [XMLTree] = []
    /// The text of the element itself and of all below it.
    package fileprivate(set) var text = ""

    /// Why a text is not XML.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Parses a document.
    package static func parse(_ document: String) throws -> XMLTree {
        let builder = Builder()
        let parser = XMLParser(data: Data(document.utf8))
        parser.delegate = builder
        guard parser.parse(), let root = builder.root else {
            let reason = parser.parserError.map { "\($0)" } ?? "it has no element"
            throw Malformed(description: "line \(parser.lineNumber), column \(parser.columnNumber): \(reason)")
        }
        return root
    }

    /// This element and all below it, in the order of the document.
    package var all: [XMLTree] { [self] + children.flatMap(\.all) }

    /// The elements of a name among ``all``.
    package func all(_ name: String) -> [XMLTree] { all.filter { $0.name == name } }

    private final class Builder: NSObject, XMLParserDelegate {
        var root: XMLTree?
        private var open: [XMLTree] = []

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(XMLTree(name: name, attributes: attributes))
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            guard !open.isEmpty else { return }
            open[open.count - 1].text += text
        }

        func parser(
            _ parser: XMLParser,
            didEndElement name: String,
            namespaceURI: String?,
            qualifiedName: String?
        ) {
            guard let element = open.popLast() else { return }
            guard !open.isEmpty else {
                root = element
                return
            }
            open[open.count - 1].text += element.text
            open[open.count - 1].children.append(element)
        }
    }
}
