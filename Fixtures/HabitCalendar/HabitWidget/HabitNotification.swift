import Foundation

/// What the system hands the widget: a title, and whatever the app put in.
struct HabitNotification: Decodable {
    let title: String
    let userInfo: [String: String]

    /// The habit it is about; nil when it names none.
    var habitIdentifier: UUID? { userInfo["habitIdentifier"].flatMap { UUID(uuidString: $0) } }
}
