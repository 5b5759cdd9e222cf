import Foundation
import SafeFiles

extension Directory {
    /// What a file holds, however many names it has: a power cut in the middle of a rename may leave two.
    func bytes(of name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }
}
