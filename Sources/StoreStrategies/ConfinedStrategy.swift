/// A strategy whose program is not trusted, and runs in a sandbox as far as the kernel supports it.
package protocol ConfinedStrategy: StoreStrategy {
    /// A fragment that can follow "nothing keeps it from"; nil when the sandbox has no gaps.
    var unconfined: String? { get }
}
