/// A registered object that the context does not retain.
///
/// The object unregisters itself in its deinit. A subclass may still use its context then, when a weak reference
/// already returns nil. An object of a plain class runs no code between its last release and unregistering, all inside one context,
/// so its address is enough. A weak reference for each object would cost more than the rest of the bookkeeping.
struct ObjectReference {
    /// Not `unowned(unsafe)`: the compiler treats a struct whose first field is such a nil as nil itself.
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

    /// True for a reference to `object`, which may be in its deinit.
    func leads(to object: ObjectIdentifier) -> Bool {
        if let plain {
            return UnsafeRawPointer(plain.toOpaque()) == UnsafeRawPointer(bitPattern: UInt(bitPattern: object))
        }
        return custom?.identity == object
    }

    init(_ object: ManagedObject) {
        let isPlain = type(of: object) == type(of: object).plainClass
        plain = isPlain ? Unmanaged.passUnretained(object) : nil
        custom = isPlain ? nil : WeakReference(object)
    }
}
