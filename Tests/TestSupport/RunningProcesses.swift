import FoundationEssentials

/// The processes of this machine, found by their command lines.
package enum RunningProcesses {
    /// The command lines that contain any of the words.
    package static func mentioning(_ words: [String]) throws -> [String] {
        try commandLines().map(\.line).filter { line in words.contains { line.contains($0) } }
    }

    /// The content of a file in `/proc` for each process whose command line contains a word.
    package static func files(_ name: String, ofThoseMentioning word: String) throws -> [String] {
        try commandLines().filter { $0.line.contains(word) }
            .compactMap { FileManager.default.contents(atPath: "/proc/\($0.number)/\(name)") }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static func commandLines() throws -> [(number: String, line: String)] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .filter { $0.first?.isNumber == true }
            .compactMap { number in
                // Processes come and go while they are listed.
                guard let data = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else { return nil }
                return (number, String(decoding: data, as: UTF8.self))
            }
    }
}
