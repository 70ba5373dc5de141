// `npm run rotate-key`: exchanges the master key of the installation that the environment names; `-- --organizations`: the keys of its organizations.
import { join } from 'node:path'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

await main(async () => {
  const { node, env } = await prepare({ engine: false })
  return await handOver(node, [join(root, 'server', 'start', 'rotate-key.ts'), ...process.argv.slice(2)], env)
})
