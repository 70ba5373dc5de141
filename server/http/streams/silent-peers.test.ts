import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentIn } from './silent-peers.ts'

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const line = (local: string, remote: string, timer: string, retries: string): string =>
  `   7: ${local} ${remote} 01 00000005:00000000 ${timer}:00000A2C ${retries}     0        0 4711 2 0000000000000000 20 4 30 10 -1`

test('who was sent something again and again without an answer is silent', () => {
  const table = [
    head,
    line('0100007F:0BB8', '0200007F:D431', '01', '00000006'),
    line('0100007F:0BB8', '0200007F:D432', '01', '00000005'),
    line('0100007F:0BB8', '0200007F:D433', '04', '0000000A'),
    line('0100007F:0BB8', '0200007F:D434', '00', '00000000'),
  ].join('\n')
  assert.deepEqual(silentIn(table), ['3000 127.0.0.2 54321'])
})

test('addresses of both families are written as sockets write them', () => {
  const six = 'B80D0120000000000000000001000000'
  const mapped = '0000000000000000FFFF00000200007F'
  const table = [six, mapped].map((remote) => line(`${six}:0BB8`, `${remote}:D431`, '01', '00000009')).join('\n')
  assert.deepEqual(silentIn(table), ['3000 2001:db8::1 54321', '3000 127.0.0.2 54321'])
})

test('a table that is not there has nobody', () => {
  assert.deepEqual(silentIn(''), [])
})
