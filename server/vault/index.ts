// Seals and opens secret texts: one master key in a file, one data key an organization. Knows no table but its own settings.

export { exchangeMasterKey, KeyExchangeError } from './exchange.ts'
export { KeyFileError, type KeyFileFailure } from './key-file.ts'
export { serverSession } from './master-keys.ts'
export { openPepper } from './pepper.ts'
export { createKeyRotations, type KeyRotationsOptions } from './rotation.ts'
export { createKeyRotationWorkflow } from './rotation-workflow.ts'
export { listSealedColumns } from './sealed-columns.ts'
export { type Cell, openVault, readMasterKey, type Vault } from './vault.ts'
