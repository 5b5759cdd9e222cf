/// One step of a walk: what an app, a person or the tool does.
package enum WalkStep: Codable, Sendable, Equatable {
    case app(place: Int, AppWork)
    /// A person copies the store's files to a place that has none.
    case copy(from: Int, to: Int)
    /// An app opens a store and keeps it open; whatever held that place before is ended first.
    case hold(place: Int, Hold)
    /// The app that holds a place is ended.
    case release(place: Int)
    case tool(ToolCall)

    /// What an app does to a store, each in one transaction.
    package enum AppWork: Codable, Sendable, Equatable {
        /// Makes a store without rows where there is none.
        case create
        case insert(table: Int, token: Int, seed: UInt64)
        /// `pick` chooses among the rows that are there.
        case update(table: Int, pick: Int, token: Int, seed: UInt64)
        case delete(table: Int, pick: Int)
        case vacuum
        case checkpoint
        case sql(String)
    }

    /// What an app does that keeps a store open.
    package enum Hold: String, Codable, Sendable, CaseIterable {
        case idle, readTransaction, writeTransaction
    }

    /// A command, as it is typed; `{0}`, `{1}` and `{2}` stand for the places, `{base}` for a copy made for the call,
    /// `{backups}` for the folder of archives and `{archive}` for the latest of them.
    package struct ToolCall: Codable, Sendable, Equatable {
        package var words: [String]
        package var harm: Harm
        /// The place where an app inserts rows without pause while the command runs.
        package var liveWriter: LiveWriter?

        package init(_ words: [String], harm: Harm = .none) {
            self.words = words
            self.harm = harm
        }

        var verb: String { words.first ?? "" }
        /// The places that the words name, in their order.
        var places: [Int] {
            words.compactMap { word in
                word.count == 3 && word.first == "{" ? Int(word.dropFirst().dropLast()) : nil
            }
        }
        func value(of option: String) -> String? {
            words.firstIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        }
    }

    /// What happens to the command on the way.
    package enum Harm: Codable, Sendable, Equatable {
        case none
        /// It is killed at so many file calls.
        case killed(call: Int)
        /// It gets SIGTERM after so many milliseconds.
        case terminated(milliseconds: Int)
    }

    /// An app that inserts rows while a command runs; their tokens begin with a number.
    package struct LiveWriter: Codable, Sendable, Equatable {
        package var place: Int
        package var firstToken: Int
        package var seed: UInt64
    }
}
