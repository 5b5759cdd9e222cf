extension FaultSweep {
    /// Every fault that can happen to the calls of these kinds, in the order of the calls.
    package static func points(of kinds: [CallKind?]) -> [FaultPoint] {
        kinds.indices.flatMap { number in
            Fault.all.filter { fault in kinds[number].map(fault.kinds.contains) ?? false }
                .map { fault in
                    FaultPoint(number: number, fault: fault)
                }
        }
    }

    /// The points without duplicates in effect.
    ///
    /// Nothing changes between two changing calls, so a kill before a call equals a kill after the previous one, except for
    /// the first call.
    package static func distinct(_ points: [FaultPoint]) -> [FaultPoint] {
        let first = points.first { $0.fault == .killBefore }
        return points.filter { $0.fault != .killBefore || $0 == first }
    }

    /// One point of each fault, chosen by the seed.
    package static func oneOfEach(_ points: [FaultPoint], seed: Int) -> [FaultPoint] {
        Fault.all.compactMap { fault in
            let ofFault = points.filter { $0.fault == fault }
            return ofFault.isEmpty ? nil : ofFault[Int(UInt(bitPattern: seed) % UInt(ofFault.count))]
        }
    }

    /// Every k-th point, the seed choosing the first; spread evenly, and the same for the same seed.
    ///
    /// Each fault is sampled separately, so that none is left out.
    package static func sample(of points: [FaultPoint], limit: Int, seed: Int) -> [FaultPoint] {
        guard points.count > limit, limit > 0 else { return points }
        let step = (points.count + limit - 1) / limit
        let start = ((seed % step) + step) % step
        return Fault.all.enumerated()
            .flatMap { index, fault in
                let ofFault = points.filter { $0.fault == fault }
                return stride(from: (start + index) % step, to: ofFault.count, by: step).map { ofFault[$0] }
            }
    }
}
