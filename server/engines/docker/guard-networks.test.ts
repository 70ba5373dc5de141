import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metadataGuard } from './cloud-metadata.ts'
import { planGuards } from './guard-networks.ts'
import { hostGuard } from './host-access.ts'
import { checkDockersRules, closingCommands, openingCommands, removalCommands } from './packet-filter.ts'

/** The rules that Docker 20.10 creates for its default network, shortened. */
const rules = [
  '-P INPUT ACCEPT',
  '-P FORWARD DROP',
  '-N DOCKER',
  '-N DOCKER-USER',
  '-A FORWARD -o docker0 -j DOCKER',
  '-A DOCKER-USER -j RETURN',
]
const bridges = ['docker0', 'qs-+']
const metadata = metadataGuard(bridges)
const machine = { bridge: 'docker0', instance: 'a', seesBridged: true, hasIpv6: true }
const ssh = { first: 22, last: 22, protocol: 'tcp' } as const
const range = { first: 30000, last: 30999, protocol: 'udp' } as const
const said = (commands: readonly (readonly string[])[]): string[] => commands.map((words) => words.join(' '))

/** Returns the rules of the filter after the commands. Keeps the order of rules inside a chain. */
function after(found: readonly string[], commands: readonly (readonly string[])[]): string[] {
  const all = [...found]
  for (const command of said(commands)) {
    const rule = command.replace(/^-[ID]/, '-A')
    if (command.startsWith('-D')) all.splice(all.indexOf(rule), 1)
    else if (command.startsWith('-I')) all.unshift(rule)
    else all.push(rule)
  }
  return all
}

test('closing creates a chain and sends the traffic of builds and environments through it', () => {
  const commands = said(closingCommands(rules, metadata))
  assert.equal(commands[0], '-N QUAYSIDE-METADATA')
  assert.equal(
    commands[1],
    '-A QUAYSIDE-METADATA -d 169.254.169.254/32 -p tcp -m tcp ! --dport 53 -j REJECT --reject-with tcp-reset',
  )
  assert.deepEqual(commands.slice(-2), [
    '-I DOCKER-USER -i docker0 -j QUAYSIDE-METADATA',
    '-I DOCKER-USER -i qs-+ -j QUAYSIDE-METADATA',
  ])
})

test('closing adds the missing rules and keeps the existing ones', () => {
  for (const { guard } of planGuards({ metadata: 'closed', host: [ssh, range] }, machine)) {
    const closed = after(rules, closingCommands(rules, guard))
    assert.deepEqual(closingCommands(closed, guard), [])
    for (const gone of closed.filter((rule) => !rules.includes(rule) && !rule.startsWith('-N'))) {
      const half = [...closed.filter((rule) => rule !== gone), '-A DOCKER-USER -s 10.0.0.0/8 -j DROP']
      assert.deepEqual(
        said(closingCommands(half, guard)).map((command) => command.replace(/^-[AI]/, '-A')),
        [gone],
      )
    }
  }
})

test('opening removes the jumps, and does nothing if there are none', () => {
  for (const { guard } of planGuards({ metadata: 'closed', host: [ssh] }, machine)) {
    const closed = after(rules, closingCommands(rules, guard))
    const twice = [...closed, `-A ${guard.ways[0]} -j ${guard.chain}`]
    const opened = after(twice, openingCommands(twice, guard))
    assert.deepEqual(
      opened.filter((rule) => rule.endsWith(`-j ${guard.chain}`)),
      [],
    )
    assert.deepEqual(openingCommands(opened, guard), [])
  }
  assert.deepEqual(openingCommands([], metadata), [])
})

test('two installations share the rules of the host, each with its own ports', () => {
  const [first, second] = ['a', 'b'].map((instance) => hostGuard('iptables', bridges, instance, [ssh]))
  assert.ok(first && second)
  const both = [first, second].reduce((found, guard) => after(found, closingCommands(found, guard)), rules)
  const ports = (found: readonly string[]) => found.filter((rule) => rule.includes('--dport 22 '))
  assert.equal(ports(both).length, 2)
  // Rules that accept come before rules that reject, whichever installation set them.
  const chain = both.filter((rule) => rule.startsWith('-A QUAYSIDE-HOST'))
  assert.deepEqual(
    chain.map((rule) => rule.includes('RETURN')),
    chain.map((_, index) => index < chain.length - 2),
  )
  const changed = hostGuard('iptables', bridges, 'a', [range])
  const later = after(both, closingCommands(both, changed))
  assert.deepEqual(
    ports(later),
    ports(both).filter((rule) => rule.includes('quayside-b')),
  )
  assert.deepEqual(ports(after(later, openingCommands(later, changed))), ports(later))
})

test('removing deletes the rules of one installation, and the chain with the last installation', () => {
  const [first, second] = ['a', 'b'].map((instance) => hostGuard('iptables', bridges, instance, [ssh]))
  assert.ok(first && second)
  const both = [first, second].reduce((found, guard) => after(found, closingCommands(found, guard)), rules)
  const left = after(both, removalCommands(both, first, true))
  assert.deepEqual(
    both.filter((rule) => !left.includes(rule)),
    both.filter((rule) => rule.includes('quayside-a')),
  )
  assert.deepEqual(said(removalCommands(left, second, false)), [
    '-D INPUT -i qs-+ -j QUAYSIDE-HOST',
    '-D INPUT -i docker0 -j QUAYSIDE-HOST',
    '-F QUAYSIDE-HOST',
    '-X QUAYSIDE-HOST',
  ])
  assert.deepEqual(removalCommands(rules, second, false), [])
})

test('rules distinguish packets on the bridge of builds only if the filter sees bridged packets', () => {
  const plan = (seesBridged: boolean) => planGuards({}, { ...machine, seesBridged }).map(({ guard }) => guard)
  const [plain] = plan(false)
  const [careful] = plan(true)
  assert.ok(plain && careful)
  const found = after(rules, closingCommands(rules, plain))
  assert.deepEqual(said(closingCommands(found, careful)), [
    '-A QUAYSIDE-BUILDS -m physdev ! --physdev-is-bridged -j DROP',
    '-D QUAYSIDE-BUILDS -j DROP',
  ])
})

test('a Docker that makes no rules is left alone', () => {
  const none = /Docker creates no iptables rules/
  assert.throws(() => checkDockersRules(rules, 'br0'), none)
  assert.throws(
    () =>
      checkDockersRules(
        rules.filter((rule) => rule !== '-N DOCKER-USER'),
        'docker0',
      ),
    none,
  )
})
