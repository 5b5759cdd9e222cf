import Glibc

/// The release of the running kernel, such as `6.12.3-amd64`.
struct KernelRelease {
    let text: String
    private let major: Int
    private let minor: Int

    init(_ text: String) {
        self.text = text
        let numbers = text.split(whereSeparator: { !$0.isNumber }).prefix(2).map { Int($0) ?? 0 }
        major = numbers.first ?? 0
        minor = numbers.count > 1 ? numbers[1] : 0
    }

    static var running: KernelRelease {
        var name = utsname()
        guard uname(&name) == 0 else { return KernelRelease("unknown") }
        return withUnsafeBytes(of: &name.release) { bytes in
            KernelRelease(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    /// True when timestamps are finer than a tick, so that no two writes share one.
    var hasFineTimestamps: Bool { (major, minor) >= (6, 13) }

    var check: Check {
        hasFineTimestamps
            ? Check("kernel", .fine, "\(text), timestamps finer than a tick")
            : Check("kernel", .note, "\(text), timestamps as wide as a tick; a write in the same tick can go unnoticed")
    }
}
