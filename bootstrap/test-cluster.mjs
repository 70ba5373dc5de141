import { join } from 'node:path'
import { execute, mustExecute } from './execute.mjs'
import { step } from './progress.mjs'
import { aptInstall, isInstalled } from './system.mjs'

/**
 * Programs that the test cluster needs, and the packages of Debian and Ubuntu that have them. The
 * plugins of container networks are in no directory of programs.
 * @type {readonly { name: string, from: string, directory?: string }[]}
 */
const needed = [
  { name: 'containerd', from: 'containerd' },
  { name: 'runc', from: 'runc' },
  { name: 'bridge', from: 'containernetworking-plugins', directory: '/usr/lib/cni' },
  { name: 'iptables', from: 'iptables' },
  { name: 'nft', from: 'nftables' },
  { name: 'conntrack', from: 'conntrack' },
  { name: 'ethtool', from: 'ethtool' },
  { name: 'socat', from: 'socat' },
  { name: 'ip', from: 'iproute2' },
  { name: 'openssl', from: 'openssl' },
  { name: 'busybox', from: 'busybox-static' },
  { name: 'docker-registry', from: 'docker-registry' },
]

/** @typedef {{ root: string, node: string, env: NodeJS.ProcessEnv }} Place */

const program = join('test', 'kubernetes', 'cluster', 'main.ts')

/** Go is where its own archive puts it, or in PATH. */
const goPlaces = `${process.env.PATH ?? ''}:/usr/local/go/bin`

/**
 * Returns why the test cluster cannot run on this machine. Undefined if it can.
 * @param {{ isApt: boolean, isRoot: boolean, platform?: NodeJS.Platform, has?: typeof isInstalled
 * }} machine
 */
export function whyNoCluster({ isApt, isRoot, platform = process.platform, has = isInstalled }) {
  if (platform !== 'linux') return 'a node of Kubernetes needs Linux'
  if (!isRoot) return 'a node of Kubernetes needs root'
  if (!has('go', goPlaces)) return 'Kubernetes is built with Go, which is not installed (https://go.dev/doc/install)'
  const missing = missingPackages(has)
  if (missing.length > 0 && !isApt) return `these packages of Debian and Ubuntu are missing: ${missing.join(', ')}`
  return undefined
}

/** @param {typeof isInstalled} has */
const missingPackages = (has) => needed.filter(({ name, directory }) => !has(name, directory)).map(({ from }) => from)

/**
 * Lists the programs that must be built before the test cluster starts, which takes long.
 * @param {Place} place
 */
export async function listUnbuilt({ root, node, env }) {
  const { code, output } = await execute(node, [join(root, program), 'missing'], { cwd: root, env })
  return code === 0 ? output.split('\n').filter(Boolean) : [output]
}

/**
 * Starts the test cluster, builds it first if the cache lacks it, runs `work`, and removes the
 * cluster. Returns what `work` returns.
 * @template T
 * @param {Place} place
 * @param {() => Promise<T>} work
 */
export async function withCluster({ root, node, env }, work) {
  const missing = missingPackages(isInstalled)
  if (missing.length > 0) await step(`Installing ${missing.join(', ')} for tests`, () => install(missing))
  /** @param {string} command */
  const cluster = (command) =>
    mustExecute(node, [join(root, program), command], {
      cwd: root,
      env,
      advice: 'The cluster of the tests did not follow.',
    })
  try {
    await step('Building what the test cluster lacks (twenty minutes the first time)', () => cluster('build'))
    await step('Starting the test cluster', () => cluster('start'))
    return await work()
  } finally {
    await step('Removing the test cluster', () => cluster('stop'))
  }
}

/** @param {string[]} packages */
async function install(packages) {
  const [program = '', ...args] = aptInstall(packages)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { code } = await execute(program, args, { env })
  if (code === 0) return
  await mustExecute('apt-get', ['update'], { advice: 'The lists of packages could not be loaded.' })
  await mustExecute(program, args, { env, advice: 'Install the packages and repeat.' })
}
