// `npm stop`: ends the server and the router of this installation; `-- --applications`: also all that it runs in Docker.
import { join } from 'node:path'
import { dataDirectoryOf } from './data-directory.mjs'
import { engineAddress } from './docker.mjs'
import { stopContainers } from './engine-containers.mjs'
import { main, Refusal } from './progress.mjs'
import { stopInstallation } from './stop-installation.mjs'
import { readIfThere } from './system.mjs'

await main(async () => {
  const args = process.argv.slice(2)
  const withApplications = args.includes('--applications')
  if (args.some((word) => word !== '--applications')) {
    throw new Refusal(`There is no option ${args.join(' ')}. Give none, or --applications to stop services as well.`)
  }
  const directory = dataDirectoryOf()
  const { lock, ended } = await stopInstallation(directory)
  const said = ended.length > 0 ? `Stopped: ${ended.join(', ')}.` : `Nothing of ${directory} was running.`
  const stopped = withApplications ? await stopApplications(directory) : undefined
  console.log(stopped === undefined ? `${said} Services keep running.` : `${said} ${stopped} containers were stopped.`)
  console.log('npm start brings it back.')
  lock.close()
  return 0
})

/** @param {string} directory */
async function stopApplications(directory) {
  const instance = readIfThere(join(directory, 'instance')).trim()
  if (!instance) {
    throw new Refusal(
      `${join(directory, 'instance')} is missing, which names this installation's containers. The server writes it: give npm start, wait for "Ready.", and try again.`,
    )
  }
  return await stopContainers(engineAddress(process.env.QUAYSIDE_DOCKER_HOST), instance)
}
