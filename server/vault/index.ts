// Seals and opens secret texts: one master key in a file, one data key an organization. Knows no table but its own settings.

export { exchangeMasterKey, KeyExchangeError, type OwnText, type OwnTexts } from './exchange.ts'
export { KeyFileError, type KeyFileFailure } from './key-file.ts'
export { openPepper } from './pepper.ts'
export { type Cell, openVault, readMasterKey, type Vault } from './vault.ts'
