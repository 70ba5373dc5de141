import { existsSync } from 'node:fs'
import { readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ctr, tryTo, untilSucceeds } from './commands.ts'
import { removeNetwork } from './network.ts'
import { endProcesses } from './processes.ts'
import { containerdSocket, programs, state } from './settings.ts'

/** Their state is thrown away, so they need not end in order. */
const kubernetes = ['kubelet', 'kube-proxy', 'kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd']

/**
 * Ends the cluster and removes all that its start made: containers, mounts, network, state. Built
 * programs and images stay. May be repeated.
 */
export async function stopCluster(): Promise<void> {
  await endProcesses(kubernetes, 'SIGKILL')
  if (existsSync(containerdSocket)) await removeContainers()
  await endProcesses(['registry', 'containerd'], 'SIGTERM')
  for (const place of await mountsBelow(`${state}/`)) await tryTo('umount', ['-l', place])
  if (existsSync(programs)) await removeNetwork()
  for (const place of await podGroups()) await removeGroup(place)
  await rm(state, { recursive: true, force: true })
}

async function removeContainers(): Promise<void> {
  const tasks = async () => (await ctr(['tasks', 'ls', '-q'])).split('\n').filter(Boolean)
  for (const id of await tasks()) await tryTo('ctr', inNamespace(['tasks', 'kill', '-s', 'SIGKILL', id]))
  await untilSucceeds('the end of all containers', 10, async () => {
    for (const id of await tasks()) await tryTo('ctr', inNamespace(['tasks', 'rm', id]))
    const left = await tasks()
    if (left.length > 0) throw new Error(`still running: ${left.join(', ')}`)
  })
  const containers = (await ctr(['containers', 'ls', '-q'])).split('\n').filter(Boolean)
  if (containers.length > 0) await ctr(['containers', 'rm', ...containers])
}

const inNamespace = (args: readonly string[]): readonly string[] => [
  '--address',
  containerdSocket,
  '--namespace',
  'k8s.io',
  ...args,
]

/** Returns the places of mounts below a directory, the deepest first. */
async function mountsBelow(directory: string): Promise<readonly string[]> {
  const places = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
  return places.filter((place) => place.startsWith(directory)).toSorted((one, other) => (one < other ? 1 : -1))
}

/** Returns the control groups that kubelet made, in version 1 one for each controller. */
async function podGroups(): Promise<readonly string[]> {
  const root = '/sys/fs/cgroup'
  const parents = [root, ...(await readdir(root)).map((name) => join(root, name))]
  return parents.map((parent) => join(parent, 'kubepods')).filter((place) => existsSync(place))
}

async function removeGroup(place: string): Promise<void> {
  const entries = await readdir(place, { withFileTypes: true })
  for (const entry of entries) if (entry.isDirectory()) await removeGroup(join(place, entry.name))
  await rmdir(place)
}
