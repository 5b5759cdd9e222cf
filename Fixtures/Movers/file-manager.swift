// The move that apps publish as shareStoreIfNecessary: the main file, once, with FileManager.
import Foundation

let old = URL(fileURLWithPath: CommandLine.arguments[1])
let new = URL(fileURLWithPath: CommandLine.arguments[2]).appendingPathComponent(old.lastPathComponent)
if FileManager.default.fileExists(atPath: old.path), !FileManager.default.fileExists(atPath: new.path) {
    try FileManager.default.moveItem(at: old, to: new)
}
