import ArgumentParser
import ChangeMerging
import StoreMigration

/// How a merge resolves conflicts and matches objects.
struct MergeArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Which value wins where both sides changed it: shared (the receiving store's), late (the other's), newest (the one set \
            last), rollback (the receiving store's whole object), overwrite (the other's), error (none: the merge is refused), or \
            the name of a merge policy; ENTITY=POLICY for one entity. May be given several times. Without --policy and --identity, share and unshare keep those of the last share. \
            (default: shared)
            """,
            valueName: "policy"
        ),
        transform: Self.choice
    )
    var policy: [PolicyChoice] = []

    @Option(
        help: ArgumentHelp(
            "Match objects of an entity by these attributes and to-one relationships; may be given several times.",
            valueName: "entity=attribute[,…]"
        ),
        transform: Self.identity
    )
    var identity: [IdentityChoice] = []

    @Option(
        help: ArgumentHelp(
            """
            A program that decides conflicts in place of the policy: it gets each as a line of JSON on standard input, and answers \
            with a line: the old value, the shared one, or another. It is confined as plugins are.
            """,
            valueName: "file"
        )
    )
    var resolver: PathArgument?

    /// A policy, for all entities or one.
    struct PolicyChoice: Sendable {
        let entity: String?
        let policy: StoreMergePolicy
    }

    /// The attributes that identify an object of an entity.
    struct IdentityChoice: Sendable {
        let entity: String
        let attributes: [String]
    }

    /// The library's settings; nil when the call names none, so that recorded ones apply.
    var namedSettings: MergeSettings? { policy.isEmpty && identity.isEmpty ? nil : settings }

    /// The library's settings; the last choice wins.
    var settings: MergeSettings {
        var settings = MergeSettings()
        for choice in policy {
            if let entity = choice.entity {
                settings.policies[entity] = choice.policy
            } else {
                settings.policy = choice.policy
            }
        }
        for choice in identity { settings.identities[choice.entity] = choice.attributes }
        return settings
    }

    static func choice(_ text: String) throws -> PolicyChoice {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.last, parts.first?.isEmpty == false, let policy = StoreMergePolicy(argument: name) else {
            let names = ["shared", "late"] + StoreMergePolicy.allCases.map(\.rawValue)
            throw ValidationError("'\(text)' is not a policy; choose one of \(names.joined(separator: ", "))")
        }
        return PolicyChoice(entity: parts.count == 2 ? parts[0] : nil, policy: policy)
    }

    static func identity(_ text: String) throws -> IdentityChoice {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let attributes = parts.last?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        guard parts.count == 2, !parts[0].isEmpty, !attributes.contains("") else {
            throw ValidationError("write ENTITY=ATTRIBUTE, with more attributes after commas")
        }
        return IdentityChoice(entity: parts[0], attributes: attributes)
    }
}
