import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardCommands } from './cloud-metadata.ts'

const none = { users: ['-N DOCKER-USER', '-A DOCKER-USER -j RETURN'], own: undefined }
const said = (commands: readonly (readonly string[])[]): string[] => commands.map((words) => words.join(' '))

/** What `iptables -S` prints afterwards. */
function after(found: typeof none | { users: string[]; own: string[] }, commands: readonly (readonly string[])[]) {
  const own = [...(found.own ?? [])]
  const users = [...found.users]
  for (const command of said(commands)) {
    const rule = command.replace(/^-I/, '-A')
    if (command.startsWith('-D')) users.splice(users.indexOf(command.replace(/^-D/, '-A')), 1)
    else if (rule.includes(' DOCKER-USER ')) users.unshift(rule)
    else own.push(rule)
  }
  return { users, own }
}

test('closing makes a chain of its own, to which builds and environments go first', () => {
  const commands = said(guardCommands(none, 'docker0', 'closed'))
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
  const closed = after(none, guardCommands(none, 'docker0', 'closed'))
  assert.deepEqual(guardCommands(closed, 'docker0', 'closed'), [])
  const own = closed.own.filter((rule) => !rule.includes('100.100.100.200'))
  const half = { users: [...none.users, '-A DOCKER-USER -s 10.0.0.0/8 -j DROP'], own }
  assert.deepEqual(
    said(guardCommands(half, 'docker0', 'closed')).map((text) => text.split(' ').slice(0, 4).join(' ')),
    ['-A QUAYSIDE-METADATA -d 100.100.100.200/32', '-I DOCKER-USER -i docker0', '-I DOCKER-USER -i qs-+'],
  )
})

test('opening takes the ways there away, and nothing where there are none', () => {
  const closed = after(none, guardCommands(none, 'br0', 'closed'))
  const opened = after(closed, guardCommands(closed, 'br0', 'open'))
  assert.deepEqual(opened, { users: none.users, own: closed.own })
  assert.deepEqual(guardCommands(opened, 'br0', 'open'), [])
})
