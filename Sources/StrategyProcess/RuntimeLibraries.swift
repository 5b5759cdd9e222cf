internal import Glibc

/// The libraries that this process itself runs with: a plugin that was built like it needs the same.
enum RuntimeLibraries {
    /// The folders of those that come with Swift, each once; none in a program that holds them itself.
    static let folders: [String] = {
        var folders: Set<String> = []
        for line in maps().split(separator: "\n") {
            guard let start = line.firstIndex(of: "/"), let end = line.lastIndex(of: "/"), start < end,
                line[end...].hasPrefix("/libswift"), line.contains(".so")
            else { continue }
            folders.insert(String(line[start..<end]))
        }
        return folders.sorted()
    }()

    /// What the kernel says of this process's memory; its file has no size, and is read to its end.
    private static func maps() -> String {
        let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        guard file != -1 else { return "" }
        defer { close(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }
}
