extension FaultSweep {
    /// Every harm that can happen to the calls of these kinds, in the order of the calls.
    package static func points(of kinds: [CallKind?]) -> [FaultPoint] {
        kinds.indices.flatMap { number in
            Fault.all.filter { fault in kinds[number].map(fault.kinds.contains) ?? false }
                .map { fault in
                    FaultPoint(number: number, fault: fault)
                }
        }
    }

    /// Every k-th point, the seed choosing the first; spread evenly, and the same for the same seed.
    ///
    /// Each fault is thinned for itself, so that none falls through the mesh of another.
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
