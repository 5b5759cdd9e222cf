import SafeFiles

/// Finds the names of external files in the bytes of a changeset, which arrive in pieces.
///
/// A value that refers to a file is a blob of 38 bytes: 2, the 36 letters of the name, and 0. Only names of existing
/// files count.
struct ExternalNames {
    private(set) var found: Set<String> = []
    private let known: NameList
    private var rest: [UInt8] = []

    init(among known: NameList) { self.known = known }

    mutating func search(_ bytes: UnsafeRawBufferPointer) {
        guard !known.isEmpty else { return }
        let all = rest + bytes
        var position = 0
        while let start = all[position...].firstIndex(of: 2) {
            guard start + 38 <= all.count else { break }
            if all[start + 37] == 0, let name = String(validating: all[start + 1..<start + 37], as: UTF8.self),
                known.place(of: name) != nil
            {
                found.insert(name)
            }
            position = start + 1
        }
        rest = Array(all.suffix(37))
    }
}
