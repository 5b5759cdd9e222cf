/// One element of an XML document, as used by model documents: attributes and elements, no text.
struct XMLElement: Sendable {
    let name: String
    let attributes: [String: String]
    /// The line where it begins, counted from 1.
    let line: Int
    var children: [XMLElement] = []

    /// The children of that name.
    func children(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// True if the attribute's value is `YES`.
    func flag(_ attribute: String) -> Bool { attributes[attribute] == "YES" }

    /// The attribute's value; nil if it is missing or empty.
    func text(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
    }
}
