/// A registered object, which the context does not keep alive.
///
/// The object takes itself out of the register before it goes. A subclass may still ask its context while it does, and a
/// weak reference then answers nil. Nothing runs between the last release of a plain object and its leaving, and all of it
/// happens inside one context: its address will do, and a weak reference to each would cost more than all other books.
struct ObjectReference {
    /// Not `unowned(unsafe)`: the compiler takes a struct that begins with a nil of that kind for nil as a whole.
    private let plain: Unmanaged<ManagedObject>?
    private let custom: WeakReference?

    private final class WeakReference {
        weak var object: ManagedObject?
        let identity: ObjectIdentifier

        init(_ object: ManagedObject) {
            self.object = object
            identity = ObjectIdentifier(object)
        }
    }

    var object: ManagedObject? { plain?.takeUnretainedValue() ?? custom?.object }

    /// True for a reference to that object, which may be about to go.
    func leads(to object: ObjectIdentifier) -> Bool {
        if let plain {
            return UnsafeRawPointer(plain.toOpaque()) == UnsafeRawPointer(bitPattern: UInt(bitPattern: object))
        }
        return custom?.identity == object
    }

    init(_ object: ManagedObject) {
        let isPlain = type(of: object) == ManagedObject.self
        plain = isPlain ? Unmanaged.passUnretained(object) : nil
        custom = isPlain ? nil : WeakReference(object)
    }
}
