#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The names of the Darwin notifications by which programs on Apple's platforms wake each other after a save.
///
/// Each role that writes has a name: the group's folder, the store and the role, as `group.app.Habits.extension.widget`. A
/// program posts the name of its role and observes the others, so it never receives its own notification. A notification has
/// no payload. On Linux ``PersistentStoreDescription`` carries the names without effect: there the wake file beside the store
/// reaches every other process.
public struct NotificationNames: Hashable, Sendable, Codable {
    /// The name that this role posts after each save; nil for a role that only reads.
    public var post: String?
    /// The names that this role observes: those that other roles post, sorted.
    public var observe: [String]

    public init(post: String?, observe: [String]) {
        (self.post, self.observe) = (post, observe)
    }
}

extension RoleDescription {
    /// The descriptions with the names of their notifications, if several roles open the store.
    static func naming(_ roles: [RoleDescription]) -> [RoleDescription] {
        guard roles.count > 1 else { return roles }
        return roles.map { role in
            var named = role
            named.description.notificationNames = NotificationNames(
                post: role.postedName,
                observe: roles.filter { $0.role != role.role }.compactMap(\.postedName).sorted()
            )
            return named
        }
    }

    /// The name that this role posts; nil if it does not write.
    private var postedName: String? {
        guard !description.isReadOnly else { return nil }
        let program =
            switch role {
            case .app: "app"
            case .extension(let name): "extension.\(name)"
            }
        let store = description.url.deletingPathExtension()
        return "\(store.deletingLastPathComponent().lastPathComponent).\(store.lastPathComponent).\(program)"
    }
}
