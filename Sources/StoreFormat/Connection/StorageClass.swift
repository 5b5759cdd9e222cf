/// The five ways in which SQLite stores a value, with SQLite's own numbers.
package enum StorageClass: Int32, Hashable, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
}
