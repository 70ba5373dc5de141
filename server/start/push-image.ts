import { readRegistryLogin } from '../builders/index.ts'
import { type Config, readConfig, socketOf } from '../config.ts'
import { DockerEngine, type RegistryLogin } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { StartError, toStartError } from './start-error.ts'

/** Of a large image over a slow line. */
const longestMs = 30 * 60_000

/**
 * `npm run image -- --push`: sends an image of the Docker Engine of this machine to the repository,
 * with the registry client and the account of the platform. Prints its reference by digest.
 */
async function main([image, repository, ...others]: readonly string[]): Promise<void> {
  if (image === undefined || repository === undefined || others.length > 0) {
    throw new StartError('Name an image of the engine and a repository, such as registry.example.org/quayside/server.')
  }
  const config = readConfig()
  // The operator names the registry here, so it may have any address.
  const guard = createAddressGuard({ allowedPrivateCidrs: ['0.0.0.0/0', '::/0'] })
  const engine = new DockerEngine({ socketPath: socketOf(config), instance: 'push-image', clock, guard })
  const attempt = { signal: AbortSignal.timeout(longestMs), output: { line: (line: string) => console.log(line) } }
  const login = await loginFor(config, repository)
  const { reference } = await engine.pushImage(image, { repository, login }, attempt)
  console.log(reference)
}

/** Sends the platform's own account only to the registry that it is for. */
async function loginFor({ clusterRegistry }: Config, repository: string): Promise<RegistryLogin | undefined> {
  const host = (name: string): string | undefined => name.split('/')[0]
  if (!clusterRegistry || host(clusterRegistry.repository) !== host(repository)) return undefined
  return await readRegistryLogin(clusterRegistry)
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})
