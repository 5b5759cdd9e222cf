/// Writes a page: well-formed XML that a browser reads as HTML.
///
/// Names of elements and attributes are ours; everything else is escaped on its way in.
struct Markup {
    typealias Attributes = KeyValuePairs<String, String?>

    private(set) var text = ""

    /// Writes an element with what `content` writes; attributes without a value are left out.
    mutating func element(
        _ name: String,
        _ attributes: Attributes = [:],
        _ content: (inout Markup) -> Void
    ) {
        open(name, attributes)
        content(&self)
        close(name)
    }

    /// Begins an element, which the caller closes.
    mutating func open(_ name: String, _ attributes: Attributes = [:]) {
        text += "<" + name + Self.text(attributes) + ">"
    }

    mutating func close(_ name: String) { text += "</" + name + ">" }

    /// Writes an element that holds a text.
    mutating func element(_ name: String, _ attributes: Attributes, _ content: String) {
        element(name, attributes) { $0.write(content) }
    }

    /// Writes an element without attributes that holds a text.
    mutating func element(_ name: String, _ content: String) { element(name, [:], content) }

    /// Writes an element without content: a void element of HTML, or a shape.
    mutating func empty(_ name: String, _ attributes: Attributes = [:]) {
        text += "<" + name + Self.text(attributes) + "/>"
    }

    /// Writes a text.
    mutating func write(_ content: String) { text += MarkupText.escaped(content) }

    mutating func lineBreak() { text += "\n" }

    /// Writes markup without escaping.
    mutating func raw(_ markup: StaticString) { text += "\(markup)" }

    private static func text(_ attributes: Attributes) -> String {
        attributes.map { name, value in value.map { " \(name)=\"\(MarkupText.escaped($0))\"" } ?? "" }.joined()
    }
}
