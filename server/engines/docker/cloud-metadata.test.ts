import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardCommands } from './cloud-metadata.ts'

/** What Docker 20.10 makes for its default network, shortened. */
const rules = ['-P FORWARD DROP', '-N DOCKER', '-N DOCKER-USER', '-A FORWARD -o docker0 -j DOCKER', '-A DOCKER-USER -j RETURN'] // biome-ignore format: one row
const said = (commands: readonly (readonly string[])[]): string[] => commands.map((words) => words.join(' '))

/** What `iptables -S` prints afterwards, in another order. */
function after(found: readonly string[], commands: readonly (readonly string[])[]): string[] {
  const all = [...found]
  for (const command of said(commands)) {
    const rule = command.replace(/^-[ID]/, '-A')
    if (command.startsWith('-D')) all.splice(all.indexOf(rule), 1)
    else all.push(rule)
  }
  return all
}

test('closing makes a chain of its own, to which builds and environments go first', () => {
  const commands = said(guardCommands(rules, 'docker0', 'closed'))
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

test('what is there is not made again, what is missing is, and what others put there stays', () => {
  const closed = after(rules, guardCommands(rules, 'docker0', 'closed'))
  assert.deepEqual(guardCommands(closed, 'docker0', 'closed'), [])
  const half = closed.filter((rule) => !/100\.100\.100\.200|-i docker0 /.test(rule))
  assert.deepEqual(
    said(guardCommands([...half, '-A DOCKER-USER -s 10.0.0.0/8 -j DROP'], 'docker0', 'closed')).map((text) =>
      text.split(' ').slice(0, 4).join(' '),
    ),
    ['-A QUAYSIDE-METADATA -d 100.100.100.200/32', '-I DOCKER-USER -i docker0'],
  )
})

test('opening takes the ways there away, and nothing where there are none', () => {
  const closed = after(rules, guardCommands(rules, 'docker0', 'closed'))
  const twice = [...closed, '-A DOCKER-USER -i docker0 -j QUAYSIDE-METADATA']
  const opened = after(twice, guardCommands(twice, 'docker0', 'open'))
  assert.deepEqual(
    opened.filter((rule) => rule.startsWith('-A DOCKER-USER')),
    ['-A DOCKER-USER -j RETURN'],
  )
  assert.deepEqual(guardCommands(opened, 'docker0', 'open'), [])
})

test('a Docker that makes no rules, as others look after them, gets none', () => {
  const none = /Docker makes no rules/
  assert.throws(() => guardCommands(rules, 'br0', 'closed'), none)
  assert.throws(
    () =>
      guardCommands(
        rules.filter((rule) => rule !== '-N DOCKER-USER'),
        'docker0',
        'closed',
      ),
    none,
  )
  assert.deepEqual(guardCommands([], 'docker0', 'open'), [])
})
