import Foundation
package import SafeFiles

/// The files of a scratch folder as a value: the content of a disk now, or after a power cut.
package struct SimulatedDisk: Sendable {
    package struct Owner: Hashable, Sendable {
        package var user: UInt32 = 0
        package var group: UInt32 = 0

        package init(user: UInt32 = 0, group: UInt32 = 0) {
            self.user = user
            self.group = group
        }
    }

    package struct Times: Hashable, Sendable {
        package var modified: FileStatus.Time
        package var changed: FileStatus.Time

        package init(modified: FileStatus.Time, changed: FileStatus.Time) {
            self.modified = modified
            self.changed = changed
        }
    }

    /// The inode of a file or a folder.
    package struct Node: Sendable {
        package var mode: UInt32
        package var owner = Owner()
        package var times: Times?
        /// A file's written bytes; its size may be greater.
        package var bytes: [UInt8] = []
        package var size = 0
        /// A folder's names.
        package var entries: [String: UInt64] = [:]

        package init(mode: UInt32) { self.mode = mode }

        package var isFolder: Bool { SimulatedDisk.isFolder(mode) }

        /// The bytes that a reader gets, with zeros in holes.
        package var content: [UInt8] { bytes.prefix(size) + [UInt8](repeating: 0, count: max(0, size - bytes.count)) }
    }

    /// One part of a change that becomes durable or is lost separately.
    package enum Effect: Sendable {
        /// A name refers to a file, or was removed.
        case entry(RecordedOperation.Name, UInt64?)
        case data(UInt64, offset: Int, ArraySlice<UInt8>)
        case size(UInt64, Int)
        case mode(UInt64, UInt32)
        case owner(UInt64, Owner)
    }

    package let root: UInt64
    package var nodes: [UInt64: Node]

    package init(root: UInt64, nodes: [UInt64: Node]) {
        self.root = root
        self.nodes = nodes
    }

    /// Does what `S_ISDIR` does.
    package static func isFolder(_ mode: UInt32) -> Bool { mode & 0o170000 == 0o040000 }

    package mutating func apply(_ effect: Effect) {
        switch effect {
        case .entry(let name, let file): nodes[name.folder]?.entries[name.name] = file
        case .data(let file, let offset, let bytes): nodes[file]?.write(bytes, at: offset)
        case .size(let file, let size): nodes[file]?.resize(to: size)
        case .mode(let file, let mode): nodes[file]?.setMode(mode)
        case .owner(let file, let owner): nodes[file]?.owner = owner
        }
    }

    /// Every path below the root with its file, in order, folders before their content.
    package var paths: [(path: String, number: UInt64, node: Node)] {
        var paths: [(path: String, number: UInt64, node: Node)] = []
        func visit(_ folder: UInt64, _ prefix: String, _ depth: Int) {
            guard let node = nodes[folder], depth < 64 else { return }
            for (name, number) in node.entries.sorted(by: { $0.key < $1.key }) {
                guard let child = nodes[number] else { continue }
                paths.append((prefix + name, number, child))
                if child.isFolder { visit(number, prefix + name + "/", depth + 1) }
            }
        }
        visit(root, "", 0)
        return paths
    }

    /// A number that is equal for two disks with the same readable content; times are ignored.
    package var fingerprint: Int {
        var hasher = Hasher()
        for (path, number, node) in paths {
            hasher.combine(path)
            hasher.combine(number)
            hasher.combine(node.mode)
            hasher.combine(node.owner)
            guard !node.isFolder else { continue }
            hasher.combine(node.size)
            // Written and unwritten zeros at the end are equal.
            node.bytes.withUnsafeBytes { bytes in
                var count = min(bytes.count, node.size)
                while count > 0, bytes[count - 1] == 0 { count -= 1 }
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
        return hasher.finalize()
    }

    /// The paths with different readable content.
    package func differences(from other: SimulatedDisk) -> [String] {
        let (mine, theirs) = (summary, other.summary)
        return Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] }.sorted()
    }

    /// The same disk without the times at which the tool read a store.
    ///
    /// While a file's last change is younger than a tick of the clock, the tool reads the file again and records the new time.
    package var withoutReadingTimes: SimulatedDisk {
        var disk = self
        for (path, number, node) in paths where path.hasSuffix(".json") && !node.isFolder {
            let text = String(decoding: node.content, as: UTF8.self)
            let bytes = Array(text.replacing(/"takenAt"\s*:\s*[0-9]+/, with: #""takenAt":0"#).utf8)
            disk.nodes[number]?.bytes = bytes
            disk.nodes[number]?.size = bytes.count
        }
        return disk
    }

    private struct Summary: Equatable {
        let mode: UInt32
        let owner: Owner
        /// Data, because a build without optimization compares arrays byte by byte.
        let content: Data
    }

    private var summary: [String: Summary] {
        var summary: [String: Summary] = [:]
        for (path, _, node) in paths {
            let content = node.isFolder ? Data() : Data(node.content)
            summary[path] = Summary(mode: node.mode, owner: node.owner, content: content)
        }
        return summary
    }
}

extension SimulatedDisk.Node {
    fileprivate mutating func write(_ written: ArraySlice<UInt8>, at offset: Int) {
        let end = offset + written.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.withUnsafeMutableBytes { bytes in
            written.withUnsafeBytes { written in
                UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<end]).copyMemory(from: written)
            }
        }
    }

    /// Bytes beyond the new size are discarded.
    fileprivate mutating func resize(to size: Int) {
        if size < self.size, bytes.count > size { bytes.removeLast(bytes.count - size) }
        self.size = size
    }

    fileprivate mutating func setMode(_ permissions: UInt32) { mode = mode & 0o170000 | permissions }
}
