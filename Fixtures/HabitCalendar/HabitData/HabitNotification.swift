public import Foundation
public import StoreFormat

/// A notification for the widget: a title, and the app's user info.
///
/// Scheduled notifications are files in the group.
public struct HabitNotification: Codable, Sendable {
    public let title: String
    public let userInfo: [String: String]

    /// The habit of the notification; nil if it names none.
    public var habitIdentifier: UUID? { userInfo["habitIdentifier"].flatMap { UUID(uuidString: $0) } }

    public init(title: String, habit: UUID) {
        self.title = title
        userInfo = ["habitIdentifier": habit.uuidString]
    }

    /// A title or user info that is missing, or of another type, is left out.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        title = (try? values.decode(String.self, forKey: .title)) ?? ""
        userInfo = (try? values.decode([String: String].self, forKey: .userInfo)) ?? [:]
    }

    public init(contentsOf file: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }

    /// Schedules the notification; a habit has one.
    public func schedule(in group: GroupContainer) throws {
        guard let habitIdentifier else { return }
        try FileManager.default.createDirectory(at: Self.folder(in: group), withIntermediateDirectories: true)
        let file = Self.folder(in: group).appending(path: "\(habitIdentifier).json")
        try JSONEncoder().encode(self).write(to: file, options: .atomic)
    }

    /// Removes the scheduled notifications of a habit, and returns their number.
    public static func removeScheduled(forHabit id: UUID, in group: GroupContainer) throws -> Int {
        let folder = folder(in: group)
        guard FileManager.default.fileExists(atPath: folder.path) else { return 0 }
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { (try? HabitNotification(contentsOf: $0))?.habitIdentifier == id }
        for file in files { try FileManager.default.removeItem(at: file) }
        return files.count
    }

    private static func folder(in group: GroupContainer) -> URL { group.url.appending(path: "notifications") }
}
