import { statfs } from 'node:fs/promises'
import type { DiskSpace, Engine } from './engine.ts'
import { EngineError } from './engine-error.ts'
import { thisMachine } from './machine-report.ts'
import { noEngine } from './no-engine.ts'

const refuse = async (): Promise<never> => {
  throw new EngineError('refused', 'this installation has no Docker Engine (QUAYSIDE_DOCKER_HOST is none)')
}
const none = async (): Promise<never[]> => []

/**
 * The engine of a machine without a Docker Engine. Nothing runs there, and the disk is that of the
 * platform's own files.
 */
export function createAbsentEngine(dataDirectory: string): Engine {
  const space = async (): Promise<DiskSpace> => {
    const { bsize, blocks, bavail, files, ffree } = await statfs(dataDirectory)
    return { totalBytes: bsize * blocks, freeBytes: bsize * bavail, totalInodes: files, freeInodes: ffree }
  }
  return {
    ...noEngine,
    capabilities: { ...noEngine.capabilities, description: 'a machine without a Docker Engine' },
    ping: refuse,
    listFindings: none,
    machines: async () => [thisMachine()],
    prepareEnvironment: refuse,
    diskSpace: space,
    disk: async () => ({
      ...(await space()),
      images: [],
      volumes: [],
      layers: [],
      runs: [],
      buildCache: { bytes: 0, freeableBytes: 0 },
    }),
    countInodes: async () => undefined,
    removeImage: async () => true,
    trimBuildCache: async () => 0,
    copyVolumes: refuse,
    readVolume: refuse,
    writeVolume: refuse,
    hasVolume: async () => false,
    removeVolume: async () => {},
    resume: none,
    renewEnvironment: none,
    eraseAll: none,
    listEnvironments: none,
    checkLiveness: none,
    followRestarts: none,
    guardNetworks: async () => false,
  }
}
