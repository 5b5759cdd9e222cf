import Foundation
import SafeFiles

extension Directory {
    /// The bytes of a file with any number of names: a power cut during a rename may leave two.
    func bytes(of name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }
}
