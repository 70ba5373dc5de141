// Writes contract/openapi.json. A test compares it with the contract.
import { writeFileSync } from 'node:fs'
import { openApi } from './openapi.ts'
import manifest from './package.json' with { type: 'json' }

writeFileSync(new URL('openapi.json', import.meta.url), `${JSON.stringify(openApi(manifest.version), null, 2)}\n`)
