import FoundationEssentials

/// The folder of the package under test.
enum Package {
    static let path = String(#filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined())
}
