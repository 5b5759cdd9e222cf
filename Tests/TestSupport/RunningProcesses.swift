import FoundationEssentials

/// The processes of this machine, as their command lines tell.
package enum RunningProcesses {
    /// The command lines that hold any of the words.
    package static func mentioning(_ words: [String]) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .filter { $0.first?.isNumber == true }
            .compactMap { number in
                // Processes come and go while they are listed.
                guard let data = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else { return nil }
                let line = String(decoding: data, as: UTF8.self)
                return words.contains { line.contains($0) } ? line : nil
            }
    }
}
