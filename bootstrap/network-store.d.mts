// What tests use of it.
export function findHalfRemoved(dataRoot?: string): string[]
export function mendNetworkStore(dataRoot?: string): string[]
