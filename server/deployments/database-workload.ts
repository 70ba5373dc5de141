import { databaseTable } from '@quayside/contract/services/database.ts'
import type { LongRunning } from '../engines/index.ts'
import { Secret } from '../lib/secret.ts'
import type { SettingsOf } from '../services/index.ts'
import type { WorkloadInput } from './to-workload.ts'
import { dataPathOf } from './versioned.ts'

const redisFile = '/etc/quayside/redis.conf'

/** One replica of the official image, with one volume that is named by the service, ready when its port answers. */
export function databaseWorkload(
  settings: SettingsOf['database'],
  { service, image, variables, files, ...rest }: WorkloadInput,
): LongRunning {
  const { REDIS_PASSWORD: redisPassword, ...others } = variables
  const isRedis = settings.type === 'REDIS'
  return {
    ...rest,
    shape: 'long-running',
    image,
    // Redis takes its password from a file: arguments are seen by everybody on the machine.
    variables: isRedis ? others : variables,
    files: isRedis ? [...files, { path: redisFile, content: redisConfiguration(redisPassword) }] : files,
    arguments: isRedis ? ['redis-server', redisFile] : [],
    replicas: { min: 1, max: 1 },
    cpuMilli: settings.cpu,
    memoryMiB: settings.memory,
    ports: [{ name: 'database', internalPort: databaseTable[settings.type].port, protocol: 'TCP' }],
    probes: {},
    storage: [{ id: service, mountPoint: dataPathOf(settings), sizeGiB: settings.storage }],
  }
}

const redisConfiguration = (password: string | Secret | undefined): Secret =>
  new Secret(
    `requirepass ${password instanceof Secret ? password.reveal() : (password ?? '')}\nappendonly yes\ndir /data\n`,
  )
