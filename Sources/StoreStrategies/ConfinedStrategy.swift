/// A strategy whose program is not trusted, and is kept from whatever the kernel can keep it from.
package protocol ConfinedStrategy: StoreStrategy {
    /// What nothing keeps it from, as it can stand after "nothing keeps it from"; nil when that is nothing.
    var unconfined: String? { get }
}
