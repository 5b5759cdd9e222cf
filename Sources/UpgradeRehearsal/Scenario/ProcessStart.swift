/// A process that opens a store and stays.
package struct ProcessStart: Sendable {
    /// What it does until it is ended.
    package enum Work: Sendable {
        case nothing
        case holdsReader
        case holdsWriteLock
        /// Executes SQL repeatedly; `{n}` is the number of the round, from 1.
        case repeats(sql: String, after: Int64)
    }

    package let process: String
    package let store: String
    package let work: Work
}
