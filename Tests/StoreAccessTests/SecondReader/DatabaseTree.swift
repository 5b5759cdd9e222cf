/// The rows of one b-tree in the order of their keys.
///
/// Source: "Database File Format" of SQLite's documentation, sections 1.6 and 2.1.
struct DatabaseTree {
    private enum PageType: UInt8 {
        case interiorIndex = 2
        case interiorTable = 5
        case leafIndex = 10
        case leafTable = 13
    }

    private static let greatestDepth = 40

    private let pages: DatabasePages
    private let root: Int

    init(_ pages: DatabasePages, root: Int) { (self.pages, self.root) = (pages, root) }

    /// Passes each row's number, nil in an index, and its record.
    func forEachRow(_ body: (Int64?, Record) throws -> Void) throws { try visit(root, depth: 0, body) }

    private func visit(_ number: Int, depth: Int, _ body: (Int64?, Record) throws -> Void) throws {
        guard depth < Self.greatestDepth else { throw FormatError(description: "the b-tree at \(root) has a cycle") }
        let page = try pages.page(number)
        let header = page.startIndex + (number == 1 ? 100 : 0)
        guard let type = PageType(rawValue: page[header]) else {
            throw FormatError(description: "page \(number) belongs to no b-tree")
        }
        let cells = Int(page.number(at: header + 3, bytes: 2))
        let isInterior = type == .interiorTable || type == .interiorIndex
        for index in 0..<cells {
            let entry = header + (isInterior ? 12 : 8) + 2 * index
            var cursor = ByteCursor(page, at: page.startIndex + Int(page.number(at: entry, bytes: 2)))
            if isInterior { try visit(Int(cursor.number(bytes: 4)), depth: depth + 1, body) }
            switch type {
            case .interiorTable: continue
            case .leafTable:
                let size = try Int(cursor.variable())
                let row = try Int64(bitPattern: cursor.variable())
                try body(row, Record(payload(of: size, &cursor, most: pages.usableSize - 35)))
            case .leafIndex, .interiorIndex:
                let size = try Int(cursor.variable())
                let most = (pages.usableSize - 12) * 64 / 255 - 23
                try body(nil, Record(payload(of: size, &cursor, most: most)))
            }
        }
        if isInterior { try visit(Int(page.number(at: header + 8, bytes: 4)), depth: depth + 1, body) }
    }

    /// The payload of a cell, of which `most` bytes at most are in its page.
    private func payload(of size: Int, _ cursor: inout ByteCursor, most: Int) throws -> [UInt8] {
        guard size > most else { return try Array(cursor.bytes(size)) }
        let least = (pages.usableSize - 12) * 32 / 255 - 23
        let wanted = least + (size - least) % (pages.usableSize - 4)
        var bytes = try Array(cursor.bytes(wanted <= most ? wanted : least))
        var next = Int(cursor.number(bytes: 4))
        while bytes.count < size {
            var rest = ByteCursor(try pages.page(next))
            next = Int(rest.number(bytes: 4))
            bytes += try rest.bytes(min(size - bytes.count, pages.usableSize - 4))
        }
        return bytes
    }
}

/// A position in bytes.
struct ByteCursor {
    private let source: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ source: ArraySlice<UInt8>, at position: Int? = nil) {
        self.source = source
        self.position = position ?? source.startIndex
    }

    mutating func bytes(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count >= 0, position + count <= source.endIndex else {
            throw FormatError(description: "a cell passes the end of its page")
        }
        defer { position += count }
        return source[position..<position + count]
    }

    mutating func number(bytes count: Int) -> UInt64 {
        defer { position += count }
        return source.number(at: position, bytes: count)
    }

    /// A number of one to nine bytes.
    mutating func variable() throws -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<9 {
            let byte = try UInt64(bytes(1).reduce(0) { $1 + $0 })
            if index == 8 { return value << 8 | byte }
            value = value << 7 | byte & 0x7f
            if byte < 0x80 { break }
        }
        return value
    }
}

/// The values of one row as they are stored.
struct Record {
    let values: [SQLStoredValue]

    init(_ payload: [UInt8]) throws {
        var header = ByteCursor(payload[...])
        let size = try Int(header.variable())
        var body = ByteCursor(payload[...], at: size)
        var values: [SQLStoredValue] = []
        while header.position < size { values.append(try SQLStoredValue(type: header.variable(), &body)) }
        self.values = values
    }
}

/// One value in a record.
enum SQLStoredValue: Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    init(type: UInt64, _ body: inout ByteCursor) throws {
        switch type {
        case 0: self = .null
        case 1...6:
            let bytes = try Array(body.bytes([1, 2, 3, 4, 6, 8][Int(type) - 1]))
            let number = bytes.number(at: 0, bytes: bytes.count)
            let shift = 64 - 8 * bytes.count
            self = .integer(Int64(bitPattern: number << shift) >> shift)
        case 7:
            let number = Double(bitPattern: try body.bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
            // SQLite reads a stored NaN as null.
            self = number.isNaN ? .null : .real(number)
        case 8, 9: self = .integer(Int64(type) - 8)
        // Reserved; SQLite reads both as null.
        case 10, 11: self = .null
        default:
            let bytes = try Array(body.bytes(Int(type - 12) / 2))
            self = type.isMultiple(of: 2) ? .blob(bytes) : .text(bytes)
        }
    }
}
