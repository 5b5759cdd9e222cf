import Foundation

/// A notification for the widget: a title, and the app's user info.
struct HabitNotification: Decodable {
    let title: String
    let userInfo: [String: String]

    /// The habit of the notification; nil if it names none.
    var habitIdentifier: UUID? { userInfo["habitIdentifier"].flatMap { UUID(uuidString: $0) } }
}
