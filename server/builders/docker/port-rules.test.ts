import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bindingRules, parseAddress, parseDeviceIndex, removalCommands } from './port-rules.ts'

test('bindingRules lets a port send only ARP and IPv4 from its own addresses', () => {
  const rules = bindingRules({ port: 'veth1', mac: '02:42:ac:11:00:03', address: '172.17.0.3' }).split('\n')
  const own = '-s 02:42:ac:11:00:03'
  assert.deepEqual(rules.slice(2), [
    `-A QS-veth1 -p ARP ${own} --arp-mac-src 02:42:ac:11:00:03 --arp-ip-src 172.17.0.3 -j ACCEPT`,
    `-A QS-veth1 -p IPv4 ${own} --ip-src 172.17.0.3 -j ACCEPT`,
    '-A QS-veth1 -j DROP',
    '-A PREROUTING -i veth1 -j QS-veth1',
    '',
  ])
})

test('removalCommands removes rules of missing ports and leaves other chains alone', () => {
  const listed = ['Bridge chain: PREROUTING, entries: 2, policy: ACCEPT', '-i veth1 -j QS-veth1'].concat(
    ['QS-veth1', 'QS-veth2', 'MINE'].map((name) => `Bridge chain: ${name}, entries: 3, policy: RETURN`),
  )
  const calls = (lines: readonly string[]) =>
    removalCommands(lines.join('\n'), new Set(['veth2'])).map((args) => args.slice(2).join(' '))
  assert.deepEqual(calls(listed), ['-D PREROUTING -i veth1 -j QS-veth1', '-F QS-veth1', '-X QS-veth1'])
  assert.deepEqual(calls(listed.toSpliced(1, 1)), ['-F QS-veth1', '-X QS-veth1'])
})

test('parseDeviceIndex and parseAddress read the device and address of a step', () => {
  assert.equal(
    parseDeviceIndex('1    lo              1     0     01\n42   eth0            1     0     01005e000001\n'),
    42,
  )
  assert.equal(parseDeviceIndex('1    lo    1     0     01\n'), undefined)
  const trie =
    'Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 172.17.0.0\n        ' +
    '/16 link UNICAST\n     |-- 172.17.0.3\n        /32 host LOCAL\n'
  assert.equal(parseAddress(trie), '172.17.0.3')
  assert.equal(parseAddress(trie.slice(0, 100)), undefined)
})
