// `npm stop`: ends the server and the router of this installation. `-- --applications` also stops
// its containers.
import { join } from 'node:path'
import { dataDirectoryOf } from './data-directory.mjs'
import { engineAddress } from './docker.mjs'
import { stopContainers } from './engine-containers.mjs'
import { readOptions } from './options.mjs'
import { main, Refusal } from './progress.mjs'
import { stopInstallation } from './stop-installation.mjs'
import { readIfThere } from './system.mjs'

await main(async () => {
  const withApplications = readOptions(['--applications']).includes('--applications')
  const directory = dataDirectoryOf()
  const { lock, ended } = await stopInstallation(directory)
  const isIdle = ended.length === 0
  const said = isIdle
    ? `Nothing to stop: no server, router or PostgreSQL of ${directory} is running.`
    : `Stopped: ${ended.join(', ')}.`
  const stopped = withApplications ? await stopApplications(directory) : undefined
  console.log(
    stopped === undefined
      ? `${said}${isIdle ? '' : ' Services keep running.'}`
      : `${said} ${stopped} ${stopped === 1 ? 'container was' : 'containers were'} stopped.`,
  )
  console.log('Start it with npm start.')
  lock.close()
  return 0
})

/** @param {string} directory */
async function stopApplications(directory) {
  const instance = readIfThere(join(directory, 'instance')).trim()
  if (!instance) {
    throw new Refusal(
      `${join(directory, 'instance')} is missing, so the containers of this installation are unknown. ` +
        'The server writes that file. Run npm start, wait for "Ready.", and try again.',
    )
  }
  return await stopContainers(engineAddress(process.env.QUAYSIDE_DOCKER_HOST), instance)
}
