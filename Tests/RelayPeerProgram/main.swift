import ChangeRelay
import Glibc
import StoreAccess

/// A process that shares a store with the test.
///
/// The test sends it commands line by line, and each is answered with a line. `relay-peer wake STORE` posts and
/// receives notifications. `relay-peer queue STORE [NAME]` posts to the relay beside the store and drains it as a
/// consumer. `relay-peer container STORE ROLE…` opens the store as an app or an extension does.

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func location(_ path: String) -> StoreLocation {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return StoreLocation(folder: parts.dropLast().joined(separator: "/"), name: String(parts.last ?? ""))
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(2) }
let store = location(arguments[2])
let peer: any Peer
switch arguments[1] {
case "wake": peer = try WakePeer(store)
case "queue": peer = try QueuePeer(store, consumer: arguments.dropFirst(3).first)
case "container": peer = try ContainerPeer(store, roles: Set(arguments.dropFirst(3)))
default: exit(2)
}
say("ready")
while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    do {
        say(try await peer.answer(words))
    } catch {
        say("error \(error)")
    }
}
