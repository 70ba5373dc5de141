/**
 * A program that sleeps until it is killed, by Node's name of the processor. It is a Linux
 * executable without libraries, assembled by hand, because an engine may have no other program to
 * run.
 */
export function idleProgram(architecture: string): Buffer | undefined {
  const known = architectures[architecture]
  if (!known) return undefined
  const header = Buffer.alloc(headerBytes)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16) // an executable
  header.writeUInt16LE(known.machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(loadedAt + BigInt(headerBytes), 24) // the entry point
  header.writeBigUInt64LE(64n, 32) // the offset of the program header
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(1, 56)
  const bytes = BigInt(headerBytes + known.code.length)
  header.writeUInt32LE(1, 64) // the only segment: loaded,
  header.writeUInt32LE(5, 68) // readable and executable
  header.writeBigUInt64LE(loadedAt, 80)
  header.writeBigUInt64LE(loadedAt, 88)
  header.writeBigUInt64LE(bytes, 96)
  header.writeBigUInt64LE(bytes, 104)
  header.writeBigUInt64LE(0x10000n, 112)
  return Buffer.concat([header, known.code])
}

const headerBytes = 120
const loadedAt = 0x400000n

const architectures: Readonly<Record<string, { readonly machine: number; readonly code: Buffer }>> = {
  // mov eax, 34 (pause); syscall; jmp to the first instruction
  x64: { machine: 62, code: Buffer.from('b8220000000f05ebf7', 'hex') },
  // mov x0…x4, 0; mov x8, 73 (ppoll); svc 0; b to the first instruction
  arm64: {
    machine: 183,
    code: words(0xd2800000, 0xd2800001, 0xd2800002, 0xd2800003, 0xd2800004, 0xd2800928, 0xd4000001, 0x17fffff9),
  },
}

function words(...instructions: readonly number[]): Buffer {
  const code = Buffer.alloc(instructions.length * 4)
  for (const [index, instruction] of instructions.entries()) code.writeUInt32LE(instruction, index * 4)
  return code
}
