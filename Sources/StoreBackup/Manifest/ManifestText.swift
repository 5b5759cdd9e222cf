/// A manifest's text, taken apart by its lines: a decoder takes many times the bytes of what it is handed at once.
///
/// Nothing is believed of it: what is read of the parts has to give the same text again.
struct ManifestText {
    private static let listStart = Array("  \"members\" : [".utf8)
    private static let listEnd = Array("  ],".utf8)
    private static let memberStart = Array("    {".utf8)
    private static let memberEnds = [Array("    },".utf8), Array("    }".utf8)]

    /// The text without its members; all of it where these are not written as we write them.
    private(set) var frame: [UInt8] = []
    /// Where each member stands in the text.
    private(set) var members: [Range<Int>] = []

    init(_ bytes: [UInt8]) {
        var isInList = false
        var start: Int?
        var line = bytes.startIndex
        while line < bytes.endIndex {
            let end = bytes[line...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let text = bytes[line..<end]
            if isInList, start == nil, text.elementsEqual(Self.memberStart) {
                start = line
            } else if isInList, let first = start, Self.memberEnds.contains(where: { text.elementsEqual($0) }) {
                members.append(first..<(line + Self.memberStart.count))
                start = nil
            } else if start == nil {
                isInList = isInList ? !text.elementsEqual(Self.listEnd) : text.elementsEqual(Self.listStart)
                frame += text
                frame.append(0x0A)
            }
            line = end + 1
        }
        guard isInList || start != nil else { return }
        frame = bytes
        members = []
    }
}
