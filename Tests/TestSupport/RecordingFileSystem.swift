package import SafeFiles
import Synchronization
package import SystemPackage

/// Records every system call, injects failures, and can limit the bytes of a transfer.
package final class RecordingFileSystem: FileSystemOperations {
    private struct State {
        var calls: [String] = []
        var openDescriptors: Set<Int32> = []
        var failures: [Int: Errno]
        var failuresOfOpening: [String: Errno] = [:]
    }

    private let state: Mutex<State>
    private let system = LinuxFileSystem()
    private let largestTransfer: Int
    private let fileSystemType: UInt64?
    private let refusesWatches: Bool
    private let pretendsToClone: Bool

    /// Fails the calls with these numbers, counted from zero; `pretendsToClone` is for file systems without clones.
    package init(
        failures: [Int: Errno] = [:],
        largestTransfer: Int = .max,
        fileSystemType: UInt64? = nil,
        refusesWatches: Bool = false,
        pretendsToClone: Bool = false
    ) {
        state = Mutex(State(failures: failures))
        self.largestTransfer = largestTransfer
        self.fileSystemType = fileSystemType
        self.refusesWatches = refusesWatches
        self.pretendsToClone = pretendsToClone
    }

    /// The calls so far: the operation and its name, if any.
    package var calls: [String] { state.withLock { $0.calls } }
    /// The descriptors opened through this object and not closed.
    package var openDescriptors: Set<Int32> { state.withLock { $0.openDescriptors } }

    /// Fails the next call.
    package func failNext(with error: Errno) {
        state.withLock { $0.failures[$0.calls.count] = error }
    }

    /// Fails the calls at these distances; 0 is the next one.
    package func fail(after distances: some Sequence<Int>, with error: Errno) {
        state.withLock { state in
            for distance in distances { state.failures[state.calls.count + distance] = error }
        }
    }

    /// Fails every attempt to open a name.
    package func fail(opening name: String, with error: Errno) {
        state.withLock { $0.failuresOfOpening[name] = error }
    }

    private func record<Value>(_ call: String, _ body: () throws(Errno) -> Value) throws(Errno) -> Value {
        let failure = state.withLock { state in
            defer { state.calls.append(call) }
            return state.failures[state.calls.count]
        }
        if let failure { throw failure }
        return try body()
    }

    private func opening(_ call: String, _ body: () throws(Errno) -> Int32) throws(Errno) -> Int32 {
        let descriptor = try record(call, body)
        state.withLock { _ = $0.openDescriptors.insert(descriptor) }
        return descriptor
    }
}

extension RecordingFileSystem {
    package func openDirectory(path: String) throws(Errno) -> Int32 {
        try opening("openDirectory \(path)") { () throws(Errno) in try system.openDirectory(path: path) }
    }

    package func open(_ name: String, in directory: Int32, _ mode: OpeningMode) throws(Errno) -> Int32 {
        try opening("open \(name) \(mode)") { () throws(Errno) in
            if let failure = state.withLock({ $0.failuresOfOpening[name] }) { throw failure }
            return try system.open(name, in: directory, mode)
        }
    }

    package func close(_ descriptor: Int32) throws(Errno) {
        // close(2) frees the number even if it fails, so a failure must not leave it open here either.
        state.withLock { _ = $0.openDescriptors.remove(descriptor) }
        try system.close(descriptor)
        try record("close") {}
    }

    package func path(of descriptor: Int32) throws(Errno) -> [UInt8] {
        try record("path") { () throws(Errno) in try system.path(of: descriptor) }
    }

    package func status(of descriptor: Int32) throws(Errno) -> FileStatus {
        try record("status") { () throws(Errno) in try system.status(of: descriptor) }
    }

    package func status(of name: String, in directory: Int32) throws(Errno) -> FileStatus {
        try record("status \(name)") { () throws(Errno) in try system.status(of: name, in: directory) }
    }

    package func statusOfTarget(of name: String, in directory: Int32) throws(Errno) -> FileStatus {
        try record("statusOfTarget \(name)") { () throws(Errno) in
            try system.statusOfTarget(of: name, in: directory)
        }
    }

    package func target(of name: String, in directory: Int32) throws(Errno) -> [UInt8] {
        try record("target \(name)") { () throws(Errno) in try system.target(of: name, in: directory) }
    }

    package func birthTime(of name: String, in directory: Int32) throws(Errno) -> FileStatus.Time? {
        try record("birthTime \(name)") { () throws(Errno) in try system.birthTime(of: name, in: directory) }
    }

    package func allowsWriting(_ name: String, in directory: Int32) throws(Errno) -> Bool {
        try record("allowsWriting \(name)") { () throws(Errno) in try system.allowsWriting(name, in: directory) }
    }

    package func hasAccessList(_ descriptor: Int32) throws(Errno) -> Bool {
        try record("hasAccessList") { () throws(Errno) in try system.hasAccessList(descriptor) }
    }

    package func entries(of directory: Int32, _ body: (String) -> Void) throws(Errno) {
        try record("entries") { () throws(Errno) in try system.entries(of: directory, body) }
    }

    package func space(on descriptor: Int32) throws(Errno) -> FileSystemSpace {
        try record("space") { () throws(Errno) in try system.space(on: descriptor) }
    }

    package func fileSystemType(of descriptor: Int32) throws(Errno) -> UInt64 {
        try record("fileSystemType") { () throws(Errno) in
            if let fileSystemType { return fileSystemType }
            return try system.fileSystemType(of: descriptor)
        }
    }

    package func createDirectory(_ name: String, in directory: Int32) throws(Errno) {
        try record("createDirectory \(name)") { () throws(Errno) in try system.createDirectory(name, in: directory) }
    }

    package func rename(
        _ name: String,
        in directory: Int32,
        to newName: String,
        in newDirectory: Int32,
        replacing: Bool
    ) throws(Errno) {
        try record("rename \(name) \(newName)\(replacing ? " replacing" : "")") { () throws(Errno) in
            try system.rename(name, in: directory, to: newName, in: newDirectory, replacing: replacing)
        }
    }

    package func exchange(_ name: String, with other: String, in directory: Int32) throws(Errno) {
        try record("exchange \(name) \(other)") { () throws(Errno) in
            try system.exchange(name, with: other, in: directory)
        }
    }

    package func link(
        _ name: String,
        in directory: Int32,
        to newName: String,
        in newDirectory: Int32
    ) throws(Errno) {
        try record("link \(name) \(newName)") { () throws(Errno) in
            try system.link(name, in: directory, to: newName, in: newDirectory)
        }
    }

    package func removeFile(_ name: String, in directory: Int32) throws(Errno) {
        try record("removeFile \(name)") { () throws(Errno) in try system.removeFile(name, in: directory) }
    }

    package func removeDirectory(_ name: String, in directory: Int32) throws(Errno) {
        try record("removeDirectory \(name)") { () throws(Errno) in try system.removeDirectory(name, in: directory) }
    }
}

extension RecordingFileSystem {
    package func read(
        _ descriptor: Int32,
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(Errno) -> Int {
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(largestTransfer))
        return try record("read") { () throws(Errno) in try system.read(descriptor, into: part, at: offset) }
    }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(largestTransfer))
        return try record("write") { () throws(Errno) in try system.write(descriptor, part, at: offset) }
    }

    package func truncate(_ descriptor: Int32, to size: Int64) throws(Errno) {
        try record("truncate") { () throws(Errno) in try system.truncate(descriptor, to: size) }
    }

    package func synchronize(_ descriptor: Int32, dataOnly: Bool) throws(Errno) {
        try record(dataOnly ? "synchronize data" : "synchronize") { () throws(Errno) in
            try system.synchronize(descriptor, dataOnly: dataOnly)
        }
    }

    package func discardCachedPages(_ descriptor: Int32) throws(Errno) {
        try record("discardCachedPages") { () throws(Errno) in try system.discardCachedPages(descriptor) }
    }

    package func setMode(_ descriptor: Int32, _ mode: UInt32) throws(Errno) {
        try record("setMode") { () throws(Errno) in try system.setMode(descriptor, mode) }
    }

    package func setOwner(_ descriptor: Int32, user: UInt32?, group: UInt32?) throws(Errno) {
        try record("setOwner") { () throws(Errno) in try system.setOwner(descriptor, user: user, group: group) }
    }

    package func clone(_ destination: Int32, from source: Int32) throws(Errno) {
        try record("clone") { () throws(Errno) in
            if !pretendsToClone { try system.clone(destination, from: source) }
        }
    }

    package func lock(_ descriptor: Int32) throws(Errno) {
        try record("lock") { () throws(Errno) in try system.lock(descriptor) }
    }

    package func unlock(_ descriptor: Int32) throws(Errno) {
        try record("unlock") { () throws(Errno) in try system.unlock(descriptor) }
    }

    package func takeLease(_ descriptor: Int32) throws(Errno) {
        try record("takeLease") { () throws(Errno) in try system.takeLease(descriptor) }
    }

    package func holdsLease(_ descriptor: Int32) throws(Errno) -> Bool {
        try record("holdsLease") { () throws(Errno) in try system.holdsLease(descriptor) }
    }

    package func returnLease(_ descriptor: Int32) throws(Errno) {
        try record("returnLease") { () throws(Errno) in try system.returnLease(descriptor) }
    }

    package func watch(_ descriptor: Int32, for events: FileWatch.Events) throws(Errno) -> Int32 {
        try opening("watch") { () throws(Errno) in
            guard !refusesWatches else { throw .tooManyOpenFiles }
            return try system.watch(descriptor, for: events)
        }
    }

    package func drainEvents(_ watch: Int32) throws(Errno) -> Bool {
        try record("drainEvents") { () throws(Errno) in try system.drainEvents(watch) }
    }

    package func poll(_ descriptor: Int32?, milliseconds: Int32) throws(Errno) -> Bool {
        try record("poll") { () throws(Errno) in try system.poll(descriptor, milliseconds: milliseconds) }
    }
}
