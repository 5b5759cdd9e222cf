internal import Glibc

/// Lists of C strings, as programs are given them.
enum CStrings {
    typealias List = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// Lends two lists, each ended by a null pointer.
    static func withPointers<R>(_ first: [String], _ second: [String], _ body: (List?, List?) -> R) -> R {
        var arguments = first.map { strdup($0) } + [nil]
        var environment = second.map { strdup($0) } + [nil]
        defer { for pointer in arguments + environment { free(pointer) } }
        return arguments.withUnsafeMutableBufferPointer { first in
            environment.withUnsafeMutableBufferPointer { second in body(first.baseAddress, second.baseAddress) }
        }
    }
}
