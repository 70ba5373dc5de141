import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, isSilent, waitingIn } from './silent-peers.ts'

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const line = (local: string, remote: string, timer: string, retries: string): string =>
  `   7: ${local} ${remote} 01 00000005:00000000 ${timer}:00000A2C ${retries}     0        0 4711 2 ` +
  '0000000000000000 20 4 30 10 -1'

test('waitingIn finds the peers that have not acknowledged data', () => {
  const table = [
    head,
    line('0100007F:0BB8', '0200007F:D431', '01', '00000006'),
    line('0100007F:0BB8', '0200007F:D432', '01', '00000000'),
    line('0100007F:0BB8', '0200007F:D433', '04', '0000000A'),
    line('0100007F:0BB8', '0200007F:D434', '00', '00000000'),
  ].join('\n')
  assert.deepEqual(
    [...waitingIn(table)],
    [
      ['3000 127.0.0.2 54321', { retries: 6, bytes: 5 }],
      ['3000 127.0.0.2 54322', { retries: 0, bytes: 5 }],
    ],
  )
})

test('waitingIn writes IPv4 and IPv6 addresses as sockets do', () => {
  const six = 'B80D0120000000000000000001000000'
  const mapped = '0000000000000000FFFF00000200007F'
  const table = [six, mapped].map((remote) => line(`${six}:0BB8`, `${remote}:D431`, '01', '00000009')).join('\n')
  assert.deepEqual([...waitingIn(table).keys()], ['3000 2001:db8::1 54321', '3000 127.0.0.2 54321'])
  assert.equal(waitingIn('').size, 0)
})

test('a peer is silent after many retries, or when several looks find growing data; an answer resets it', () => {
  const after = (...looks: (readonly [retries: number, bytes: number] | undefined)[]) => {
    let seen: ReturnType<typeof compare> = new Map()
    for (const look of looks) {
      seen = compare(seen, new Map(look ? [['peer', { retries: look[0], bytes: look[1] }]] : []))
    }
    const one = seen.get('peer')
    return one !== undefined && isSilent(one)
  }
  assert.deepEqual([after([6, 3]), after([1, 3], [2, 6], [2, 9]), after([0, 3], [0, 6], [0, 9])], Array(3).fill(true))
  const heard = [
    after([5, 3]),
    after([1, 3], [2, 6]),
    after([1, 3], [1, 3], [1, 3]),
    after([1, 3], [2, 6], undefined, [2, 6]),
    after([3, 6], [0, 3], [0, 6]),
    // A peer that reads a lot, slowly.
    after([0, 10_000], [0, 20_000], [0, 30_000]),
  ]
  assert.deepEqual(heard, Array(heard.length).fill(false))
})
