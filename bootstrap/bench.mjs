// `npm run bench`: installs what is missing, then runs the benchmarks with the given arguments.
// `--latest-haproxy` measures with the newest HAProxy of Debian in place of the machine's.
import { join } from 'node:path'
import { bringHaproxy } from './bring-haproxy.mjs'
import { handOver } from './execute.mjs'
import { laterDebians } from './later-haproxy.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

const option = '--latest-haproxy'
const [latest] = laterDebians

await main(async () => {
  const given = process.argv.slice(2)
  const { node, env } = await prepare()
  const program = [join(root, 'bench/main.ts'), ...given.filter((one) => one !== option)]
  if (!given.includes(option)) return await handOver(node, program, env)
  const found = await bringHaproxy(latest, env, `Benchmarks with the HAProxy of ${latest.name}`)
  if (found === undefined) return 1
  return await handOver(node, program, { ...env, QUAYSIDE_TEST_HAPROXY: found.program })
})
