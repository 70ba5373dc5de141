import { writeFile } from 'node:fs/promises'
import { describeSchema } from './schema.ts'
import { testDatabase } from './testing.ts'

// Writes schema.sql. Run it after adding a migration: node server/database/emit-schema.ts

const cleanups: (() => Promise<void>)[] = []
const { sql } = await testDatabase({ after: (work) => void cleanups.push(work) })
await writeFile(new URL('schema.sql', import.meta.url), await describeSchema(sql))
for (const cleanup of cleanups) await cleanup()
