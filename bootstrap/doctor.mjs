// `npm run doctor`: checks the machine for what the platform needs, before the first start or while it runs; `-- --json`.
import { join } from 'node:path'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

await main(async () => {
  const { node, env } = await prepare({ engine: false })
  return await handOver(node, [join(root, 'server', 'start', 'doctor.ts'), ...process.argv.slice(2)], env)
})
