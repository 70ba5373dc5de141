// Writes docs/authorization.md. A test compares it with the contract.
import { writeFileSync } from 'node:fs'
import { authorizationDocument } from './authorization.ts'
import { contract } from './contract.ts'

writeFileSync(new URL('../docs/authorization.md', import.meta.url), authorizationDocument(contract))
