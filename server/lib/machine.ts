import { availableParallelism, totalmem } from 'node:os'

const mebibyte = 1024 * 1024

/** Returns the capacity and the processor architecture of this machine. */
export const machine = {
  cpuMilli: availableParallelism() * 1000,
  memoryMiB: Math.floor(totalmem() / mebibyte),
  architecture: process.arch === 'arm64' ? ('ARM64' as const) : ('AMD64' as const),
}
