// A program that is linked statically has no test library, and needs no traits.
#if canImport(Testing)
package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a suite or test on a machine without genuine stores.
    package static var genuineStores: Self {
        .enabled(if: !Corpus.stores.isEmpty, "needs genuine stores: run `make corpus`")
    }

    /// Skips a test on a machine without the genuine stores of these folders.
    package static func genuineStores(_ folders: String...) -> Self {
        .enabled(
            if: folders.allSatisfy { Corpus.store(in: $0) != nil },
            "needs the genuine stores \(folders.joined(separator: ", ")): run `make corpus`"
        )
    }
}

extension Trait where Self == ConditionTrait {
    /// Moves a suite or test to the tier that only `make verify` runs.
    package static var verify: Self {
        .enabled(if: Tier.current == .verify, "belongs to the tier of `make verify`")
    }
}

/// The mark of a suite that runs a part of its cases in the tier `test`, and all in `verify`.
package struct SampledTrait: SuiteTrait {}

extension Trait where Self == SampledTrait {
    package static var sampled: Self { SampledTrait() }
}
#endif
