import { fail, isOlder, type Outcome, ok, warn } from './check.ts'
import type { EngineFact, Facts } from './facts.ts'
import { checkHoles, installEngine } from './hole-checks.ts'

type Answering = Extract<EngineFact, { readonly state: 'answers' }>

/**
 * Known errors of the Docker Engine that affect the platform, in versions from `since` up to a
 * fixed one.
 */
const knownErrors = [
  {
    name: 'moby#45057',
    since: '20.10.23',
    isFixed: (version: string) =>
      version.startsWith('20.10.') ? !isOlder(version, '20.10.25') : !isOlder(version, '24.0.0'),
    message: 'it cannot start after it was killed while it removed a network',
    remedy: 'npm start as root repairs it.',
  },
] as const

const checkVersion = ({ version }: Answering): Outcome => {
  const oldest = '20.10.0'
  if (isOlder(version, oldest))
    return fail(`The Docker Engine is ${version}, and builds need 20.10 or newer.`, installEngine())
  const error = knownErrors.find(({ since, isFixed }) => !isOlder(version, since) && !isFixed(version))
  return error
    ? warn(
        `The Docker Engine is ${version} and has ${error.name}: ${error.message}.`,
        `${installEngine()} Until then, ${error.remedy}`,
      )
    : ok(`The Docker Engine is ${version}.`)
}

/** Without its own BuildKit the platform builds on the one of the engine, with fewer features. */
const checkBuilder = ({ builder: { hasImage, deniedBy } }: Answering): Outcome => {
  if (deniedBy !== undefined) {
    const [name = ''] = deniedBy.split('=')
    return warn(
      `Builds run on the BuildKit inside of the Docker Engine, because ${deniedBy} denies the platform's own one its ` +
        'user namespace.',
      `Allow user namespaces to ordinary users: change ${name} in a file of /etc/sysctl.d, and run sysctl --system.`,
    )
  }
  return hasImage
    ? ok("Builds run on the platform's own BuildKit, without rights on this machine.")
    : ok("The first build fetches the image of the platform's own BuildKit (QUAYSIDE_BUILDER_IMAGE).")
}

const checkLiveRestore = ({ liveRestore }: Answering): Outcome =>
  liveRestore
    ? ok('Containers survive a restart of the Docker Engine.')
    : warn(
        'A restart of the Docker Engine ends all containers.',
        'Put "live-restore": true into /etc/docker/daemon.json, and run systemctl reload docker.',
      )

const good = ['overlay2', 'overlayfs', 'btrfs', 'zfs']

const checkStorage = ({ storageDriver, backingFilesystem }: Answering): Outcome =>
  good.includes(storageDriver)
    ? ok(`Docker stores images with ${storageDriver} on ${backingFilesystem || 'an unknown file system'}.`)
    : warn(
        `Docker stores images with ${storageDriver}, which is slow or needs much space.`,
        'Use overlay2: https://docs.docker.com/engine/storage/drivers/select-storage-driver/',
      )

const checkLayers = ({ layerQuota }: Answering): Outcome =>
  layerQuota.isEnforced
    ? ok(`Docker enforces what a container may write outside of its volumes (${layerQuota.by}).`)
    : warn(
        'What a container writes outside of its volumes is measured every ten minutes and not limited: ' +
          `${layerQuota.because}.`,
        'For hard limits keep the data of Docker on btrfs, or with overlay2 on xfs that is mounted with ' +
          'pquota: QUAYSIDE_LAYER_SIZE in docs/operate.md.',
      )

/** Pure: returns the checks of the engine by their names. */
export function engineChecks({ engine }: Facts): readonly (readonly [string, Outcome])[] {
  if (engine.state === 'none') {
    return [['engine', ok('No Docker Engine is used (QUAYSIDE_DOCKER_HOST is none). Connected clusters run services.')]]
  }
  if (engine.state === 'silent') {
    const remedy = 'Start Docker (npm start does so as root), or set QUAYSIDE_DOCKER_HOST to its socket.'
    return [['engine', fail(`No Docker Engine answers at ${engine.socket} (${engine.reason}).`, remedy)]]
  }
  return [
    ['engine', checkVersion(engine)],
    ['builder', checkBuilder(engine)],
    ...checkHoles(engine.versions, engine.builder),
    ['live-restore', checkLiveRestore(engine)],
    ['storage driver', checkStorage(engine)],
    ['layer limits', checkLayers(engine)],
  ]
}
