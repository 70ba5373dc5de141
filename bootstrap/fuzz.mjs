// `npm run fuzz`: installs what is missing, then sends random requests, with the arguments of this process.
import { join } from 'node:path'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

await main(async () => {
  const { node, env } = await prepare()
  return await handOver(node, [join(root, 'test', 'fuzz', 'main.ts'), ...process.argv.slice(2)], env)
})
