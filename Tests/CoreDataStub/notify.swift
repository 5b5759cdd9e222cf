// The symbols of notify(3) that Fixtures/ApplePlatforms/SharedStore.swift uses, within one process and on one thread.
import Dispatch

public let NOTIFY_STATUS_OK: Int32 = 0

/// The names that were posted.
nonisolated(unsafe) public private(set) var posted: [String] = []
nonisolated(unsafe) private var handlers: [Int32: (name: String, handler: (Int32) -> Void)] = [:]

@discardableResult
public func notify_post(_ name: UnsafePointer<CChar>!) -> UInt32 {
    let name = String(cString: name)
    posted.append(name)
    for (token, entry) in handlers where entry.name == name { entry.handler(token) }
    return 0
}

public func notify_register_dispatch(
    _ name: UnsafePointer<CChar>!,
    _ token: UnsafeMutablePointer<Int32>!,
    _ queue: DispatchQueue!,
    _ handler: @escaping (Int32) -> Void
) -> UInt32 {
    token.pointee = Int32(handlers.count + 1)
    handlers[token.pointee] = (String(cString: name), handler)
    return 0
}

@discardableResult
public func notify_cancel(_ token: Int32) -> UInt32 {
    handlers[token] = nil
    return 0
}
