// `npm run verify-audit`: checks the hash chains of the record of changes of the installation that the environment names.
import { join } from 'node:path'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

await main(async () => {
  const { node, env } = await prepare({ engine: false })
  return await handOver(node, [join(root, 'server', 'start', 'verify-audit.ts'), ...process.argv.slice(2)], env)
})
