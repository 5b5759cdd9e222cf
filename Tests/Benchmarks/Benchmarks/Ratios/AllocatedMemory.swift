import Glibc

/// The memory that this process has allocated and not freed, from its allocator.
enum AllocatedMemory {
    static var bytes: Int {
        // Swift's Glibc module does not export this function.
        typealias Information = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        var text: UnsafeMutablePointer<CChar>?
        var count = 0
        guard let symbol = dlsym(nil, "malloc_info"), let stream = open_memstream(&text, &count) else { return 0 }
        _ = unsafeBitCast(symbol, to: Information.self)(0, stream)
        fclose(stream)
        defer { free(text) }
        guard let text, let totals = String(cString: text).split(separator: "</heap>").last else { return 0 }
        func size(_ element: String) -> Int {
            totals.split(separator: element).dropFirst().first?.split(separator: "size=\"").dropFirst().first?
                .split(separator: "\"").first.flatMap { Int($0) } ?? 0
        }
        return size("<system type=\"current\"") + size("<total type=\"mmap\"") - size("<total type=\"fast\"")
            - size("<total type=\"rest\"")
    }
}
