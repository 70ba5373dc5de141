// `npm start`: installs what is missing, then runs the server with the arguments and the environment of this process.
import { join } from 'node:path'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

await main(async () => {
  const { node, env } = await prepare()
  return await handOver(node, [join(root, 'server', 'main.ts'), ...process.argv.slice(2)], env)
})
