internal import SafeFiles

/// Looks at a place and says what is there, without changing a byte of it.
package struct StoreInspector: Sendable {
}
