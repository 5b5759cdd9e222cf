internal import Glibc

/// The libraries that this process has loaded: a plugin from the same toolchain needs the same.
enum RuntimeLibraries {
    /// The folders of Swift's libraries, each once; empty in a statically linked program.
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

    /// This process's memory map; the kernel's file reports no size, so it is read to its end.
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
