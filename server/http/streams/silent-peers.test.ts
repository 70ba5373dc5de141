import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, isSilent, retriesIn } from './silent-peers.ts'

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const line = (local: string, remote: string, timer: string, retries: string): string =>
  `   7: ${local} ${remote} 01 00000005:00000000 ${timer}:00000A2C ${retries}     0        0 4711 2 0000000000000000 20 4 30 10 -1`

test('who was sent something again without an answer stands in the table of the kernel', () => {
  const table = [
    head,
    line('0100007F:0BB8', '0200007F:D431', '01', '00000006'),
    line('0100007F:0BB8', '0200007F:D432', '01', '00000000'),
    line('0100007F:0BB8', '0200007F:D433', '04', '0000000A'),
    line('0100007F:0BB8', '0200007F:D434', '00', '00000000'),
  ].join('\n')
  assert.deepEqual([...retriesIn(table)], [['3000 127.0.0.2 54321', 6]])
})

test('addresses of both families are written as sockets write them', () => {
  const six = 'B80D0120000000000000000001000000'
  const mapped = '0000000000000000FFFF00000200007F'
  const table = [six, mapped].map((remote) => line(`${six}:0BB8`, `${remote}:D431`, '01', '00000009')).join('\n')
  assert.deepEqual([...retriesIn(table).keys()], ['3000 2001:db8::1 54321', '3000 127.0.0.2 54321'])
  assert.equal(retriesIn('').size, 0)
})

test('a peer is silent after many tries, or where looks long apart find ever more; an answer begins anew', () => {
  const after = (...retries: number[]) => {
    let seen: ReturnType<typeof compare> = new Map()
    for (const count of retries) seen = compare(seen, new Map(count > 0 ? [['peer', count]] : []))
    const one = seen.get('peer')
    return one !== undefined && isSilent(one)
  }
  assert.deepEqual([after(6), after(1, 2, 2), after(2, 2, 3)], [true, true, true])
  assert.deepEqual([after(5), after(1, 2), after(1, 1, 1), after(1, 2, 0, 2), after(3, 1, 2)], Array(5).fill(false))
})
