import { BlockList, isIP } from 'node:net'

interface Odd {
  readonly command?: number
  readonly family?: number
  readonly length?: number
}

/** Returns the PROXY header of version 2 for a client, or one with odd members. */
export function proxyHeaderOf(client: string, { command = 0x21, family, length }: Odd = {}): Buffer {
  const source = isIP(client) === 6 ? sixBytes(client) : Buffer.from(client.split('.').map(Number))
  const block = Buffer.concat([source, source, Buffer.from([0x13, 0x88, 0x01, 0xbb])])
  const head = Buffer.alloc(4)
  head.writeUInt8(command, 0)
  head.writeUInt8(family ?? (isIP(client) === 6 ? 0x21 : 0x11), 1)
  head.writeUInt16BE(length ?? block.length, 2)
  return Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'), head, block])
}

function sixBytes(address: string): Buffer {
  assertSix(address)
  const [start = '', end = ''] = address.split('::')
  const groups = (text: string): number[] =>
    text.split(':').flatMap((group) => {
      if (group === '') return []
      if (!group.includes('.')) return [Number.parseInt(group, 16)]
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
      return [a * 256 + b, c * 256 + d]
    })
  const [first, last] = [groups(start), groups(end)]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]))
}

/** Throws for what is not an address. */
function assertSix(address: string): void {
  new BlockList().addAddress(address, 'ipv6')
}
