// Seals and opens secret texts: one master key in a file, one data key per organization. Knows only
// its own tables.

export { exchangeMasterKey, KeyExchangeError } from './exchange.ts'
export { KeyFileError, type KeyFileFailure } from './key-file.ts'
export { serverSession } from './master-keys.ts'
export { openPepper } from './pepper.ts'
export { createKeyRotations, type KeyRotationsOptions } from './rotation.ts'
export { createKeyRotationWorkflow } from './rotation-workflow.ts'
export { listSealedColumns } from './sealed-columns.ts'
export { type Cell, openVault, readMasterKey, type Vault } from './vault.ts'
