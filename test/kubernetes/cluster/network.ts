import { must, tryTo } from './commands.ts'
import { addresses, nodeBridge, podBridge } from './settings.ts'

/**
 * Rules of the packet filter: pods reach each other even if Docker sets FORWARD to DROP, and
 * nothing meant for a pod or a service leaves by a real interface.
 */
const rulesFor = (outside: string): readonly (readonly string[])[] => [
  ['FORWARD', '-i', podBridge, '-o', podBridge, '-j', 'ACCEPT'],
  ['FORWARD', '-s', addresses.pods, '-o', outside, '-j', 'REJECT'],
  ['FORWARD', '-d', addresses.services, '-o', nodeBridge, '-j', 'REJECT'],
  ['OUTPUT', '-d', addresses.services, '-o', nodeBridge, '-j', 'REJECT'],
]

/** Creates the bridges, the route to services and the rules, as far as they are missing. */
export async function createNetwork(): Promise<void> {
  await prepareNamespaces()
  await ensureBridge(nodeBridge, addresses.node)
  // kube-proxy rewrites the addresses of services. What it does not rewrite ends on the bridge.
  await must('ip', ['route', 'replace', addresses.services, 'dev', nodeBridge, 'src', addresses.node])
  await ensureBridge(podBridge, addresses.podGateway)
  await must('sysctl', ['-qw', 'net.ipv4.ip_forward=1'])
  // Absent in kernels that filter bridges otherwise.
  await tryTo('sysctl', ['-qw', 'net.bridge.bridge-nf-call-iptables=1'])
  for (const [chain = '', ...rule] of rulesFor(await outsideInterface())) {
    const { exitCode } = await tryTo('iptables', ['-C', chain, ...rule])
    // Docker's own chains come first in FORWARD and must not decide about these packets.
    if (exitCode !== 0) await must('iptables', ['-I', chain, ...rule])
  }
}

/**
 * At its first use `ip netns` mounts its directory over itself. Namespaces of pods that exist then
 * are hidden below, and their pods never end. So it is used before there are any.
 */
async function prepareNamespaces(): Promise<void> {
  const name = 'quayside-first'
  await tryTo('ip', ['netns', 'del', name])
  await must('ip', ['netns', 'add', name])
  await must('ip', ['netns', 'del', name])
}

async function ensureBridge(name: string, address: string): Promise<void> {
  if ((await tryTo('ip', ['link', 'show', name])).exitCode !== 0) {
    await must('ip', ['link', 'add', name, 'type', 'bridge'])
  }
  await must('ip', ['addr', 'replace', `${address}/24`, 'dev', name])
  await must('ip', ['link', 'set', name, 'up'])
}

async function outsideInterface(): Promise<string> {
  const routes = JSON.parse((await must('ip', ['-json', 'route', 'show', 'default'])) || '[]')
  return String(routes[0]?.dev ?? 'eth0')
}

/** Removes the bridges, the rules, and what kube-proxy, kubelet and network plugins leave. */
export async function removeNetwork(): Promise<void> {
  for (const rule of rulesFor(await outsideInterface())) await tryTo('iptables', ['-D', ...rule])
  await tryTo('kube-proxy', ['--cleanup'])
  for (const family of ['iptables', 'ip6tables']) await removeChains(family)
  for (const name of await namespacesOfPods()) await tryTo('ip', ['netns', 'del', name])
  for (const bridge of [podBridge, nodeBridge]) await tryTo('ip', ['link', 'del', bridge])
}

const namespacesOfPods = async (): Promise<readonly string[]> =>
  (await must('ip', ['netns', 'list'])).split('\n').flatMap((line) => /^cni-[0-9a-f-]+/.exec(line)?.[0] ?? [])

/** Removes the rules and chains of Kubernetes and of network plugins in one step for each table. */
async function removeChains(family: string): Promise<void> {
  const { exitCode, stdout } = await tryTo(`${family}-save`, [])
  if (exitCode !== 0) return
  const stdin = removalOf(stdout)
  // Other programs, such as Docker, change their rules at the same time. Those are not touched.
  if (stdin !== '') await must(`${family}-restore`, ['--noflush'], { stdin })
}

const foreign = /^(?:KUBE|CNI)-/

/**
 * Returns the input for `iptables-restore --noflush` that removes every chain of Kubernetes and of
 * network plugins, and every rule elsewhere that jumps to one. `saved` is what `iptables-save`
 * prints. Empty if there is nothing to remove.
 */
export function removalOf(saved: string): string {
  const tables = saved.split(/^\*/m).slice(1)
  return tables.map(removalOfTable).join('')
}

function removalOfTable(table: string): string {
  const [name = '', ...lines] = table.split('\n')
  const chains = lines.flatMap((line) => (line.startsWith(':') ? (line.slice(1).split(' ')[0] ?? '') : []))
  const ended = chains.filter((chain) => foreign.test(chain))
  if (ended.length === 0) return ''
  const jumps = lines.filter((line) => {
    const words = line.split(' ')
    return words[0] === '-A' && !foreign.test(words[1] ?? '') && foreign.test(words[words.indexOf('-j') + 1] ?? '')
  })
  const commands = [
    ...jumps.map((line) => line.replace('-A', '-D')),
    ...ended.map((chain) => `-F ${chain}`),
    ...ended.map((chain) => `-X ${chain}`),
  ]
  return [`*${name}`, ...commands, 'COMMIT', ''].join('\n')
}
