/// Untrusted text, escaped for a page and kept visible.
enum MarkupText {
    /// True for characters that are invisible, change the direction of text, or are not allowed in XML.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else { return scalar.value < 0x20 || scalar.value == 0x7F }
        let properties = scalar.properties
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        // Joiners and tags are parts of letters and of emoji.
        case .format: ![0x200C, 0x200D].contains(scalar.value) && !(0xE0020...0xE007F).contains(scalar.value)
        default: properties.isNoncharacterCodePoint
        }
    }

    /// The text escaped for content and attributes; unsafe characters are written as `\u{…}`.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "'": result.append(contentsOf: "&#39;".unicodeScalars)
            default:
                if isUnsafe(scalar) {
                    let number = String(scalar.value, radix: 16, uppercase: true)
                    result.append(contentsOf: "\\u{\(number)}".unicodeScalars)
                } else {
                    result.append(scalar)
                }
            }
        }
        return String(result)
    }

    /// The text cut to `count` characters, with an ellipsis where it was cut.
    static func shortened(_ text: String, to count: Int) -> String {
        text.count <= count ? text : text.prefix(max(1, count - 1)) + "…"
    }
}
