import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock as clock } from '../../lib/clock.ts'
import { createStepPorts } from './step-ports.ts'

/**
 * A machine with one step behind port `veth1`, as the kernel shows it, and the events in their
 * order.
 */
async function openMachine(t: TestContext, fails?: string) {
  const home = await mkdtemp(join(tmpdir(), 'quayside-ports-'))
  t.after(() => rm(home, { recursive: true }))
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(home, path, '..'), { recursive: true })
    await writeFile(join(home, path), text)
  }
  const network = async (pid: string, name: string): Promise<void> => {
    await mkdir(join(home, 'proc', pid, 'ns'), { recursive: true })
    await symlink(name, join(home, 'proc', pid, 'ns', 'net'))
  }
  await network('self', 'net:[1]')
  // A process that is still in the machine's network, and the step.
  await network('41', 'net:[1]')
  await network('42', 'net:[2]')
  await write('proc/42/net/dev_mcast', '7    eth0            1     0     01005e000001\n')
  await write('proc/42/net/fib_trie', '|-- 172.17.0.3\n   /32 host LOCAL\n')
  for (const [port, index] of [
    ['veth0', '5'],
    ['veth1', '7'],
  ]) {
    await mkdir(join(home, 'sys', 'docker0', 'brif', String(port)), { recursive: true })
    await write(`sys/${port}/iflink`, `${index}\n`)
    await write(`sys/${port}/brport/isolated`, '0')
    await write(`sys/${port}/brport/unicast_flood`, '1')
  }
  const happened: string[] = []
  const ports = createStepPorts({
    clock,
    sys: join(home, 'sys'),
    proc: join(home, 'proc'),
    bridge: async () => ({ name: 'docker0', macs: new Map([['172.17.0.3', '02:42:ac:11:00:03']]) }),
    filter: async (program, _args, stdin) => {
      if (program === fails) throw new Error(`${program} failed`)
      happened.push(`${program}${stdin ? ` ${/veth\d/.exec(stdin)?.[0]}` : ''}`)
      return ''
    },
  })
  const group = (pids: readonly number[] | undefined) => ({
    processes: async () => pids,
    setFrozen: async (isFrozen: boolean) => void happened.push(isFrozen ? 'frozen' : 'thawed'),
  })
  const flag = (port: string, name: string) => readFile(join(home, 'sys', port, 'brport', name), 'utf8')
  return { ports, group, happened, flag }
}

test('keepApart binds the port of a step while the step is frozen, and leaves others alone', async (t) => {
  const { ports, group, happened, flag } = await openMachine(t)
  await ports.keepApart(group([41, 42]))
  assert.deepEqual(happened, ['frozen', 'ebtables-restore veth1', 'thawed', 'ebtables'])
  assert.deepEqual([await flag('veth1', 'isolated'), await flag('veth1', 'unicast_flood')], ['1', '0'])
  assert.deepEqual([await flag('veth0', 'isolated'), await flag('veth0', 'unicast_flood')], ['0', '1'])
})

test('keepApart reports a step whose port cannot be bound, and thaws it', async (t) => {
  const { ports, group, happened } = await openMachine(t, 'ebtables-restore')
  await assert.rejects(ports.keepApart(group([42])), /ebtables-restore failed/)
  assert.deepEqual(happened, ['frozen', 'thawed'])
})

test('keepApart succeeds when rules of previous ports cannot be removed', async (t) => {
  const { ports, group, happened } = await openMachine(t, 'ebtables')
  await ports.keepApart(group([42]))
  assert.deepEqual(happened, ['frozen', 'ebtables-restore veth1', 'thawed'])
})

test('keepApart does nothing when the step has already ended', async (t) => {
  const { ports, group, happened } = await openMachine(t)
  await ports.keepApart(group(undefined))
  assert.deepEqual(happened, [])
})
