import { type DatabaseType, databaseTable } from '@quayside/contract/services/database.ts'
import type { LongRunning, Probe } from '../engines/index.ts'
import { Secret } from '../lib/secret.ts'
import type { SettingsOf } from '../services/index.ts'
import { askWithExchange } from './exchange-password.ts'
import type { WorkloadInput } from './to-workload.ts'
import { dataPathOf } from './versioned.ts'

const redisFile = '/etc/quayside/redis.conf'

/** The grace period of a database, which writes its memory to disk before it stops. */
const stopGraceSeconds = 60

/**
 * The readiness check of each type, and the signal that stops it quickly and cleanly. The check
 * runs inside the container with the owner's password, which is never an argument. It uses the
 * network: the temporary servers of official images do not answer there during their setup. An
 * open port alone would not show that.
 */
const ways: Record<DatabaseType, { readonly ask: string; readonly stopSignal: 'SIGINT' | 'SIGTERM' }> = {
  POSTGRESQL: {
    ask:
      'PGPASSWORD="$POSTGRES_PASSWORD" exec psql --host="$HOSTNAME" --username="$POSTGRES_USER" ' +
      '--dbname="$POSTGRES_DB" --no-psqlrc --no-align --command="select 1"',
    stopSignal: 'SIGINT',
  },
  MYSQL: {
    ask:
      'MYSQL_PWD="$MYSQL_ROOT_PASSWORD" exec mysql --protocol=tcp --host="$HOSTNAME" --user=root ' +
      '--execute="select 1"',
    stopSignal: 'SIGTERM',
  },
  MONGODB: {
    ask:
      `if command -v mongosh >/dev/null; then exec mongosh --quiet --nodb --eval 'const { env } = process; ` +
      'connect("mongodb://" + encodeURIComponent(env.MONGO_INITDB_ROOT_USERNAME) + ":" + ' +
      'encodeURIComponent(env.MONGO_INITDB_ROOT_PASSWORD) + "@" + env.HOSTNAME + ":27017/admin").runCommand({ ' +
      `ping: 1 })'; fi; exec mongo --quiet --host "$HOSTNAME" --eval 'db.runCommand({ ping: 1 })'`,
    stopSignal: 'SIGTERM',
  },
  REDIS: {
    ask: `REDISCLI_AUTH="$(sed -n 's/^requirepass //p' ${redisFile})" redis-cli -h "$HOSTNAME" ping | grep -x PONG`,
    stopSignal: 'SIGTERM',
  },
}

/**
 * Creates the workload of a database: one replica of the official image with one volume, named
 * after the service. It is ready when it answers its owner.
 */
export function databaseWorkload(
  settings: SettingsOf['database'],
  {
    service,
    image,
    variables,
    files,
    publicPort,
    scale: _scale,
    targets: _targets,
    events: _events,
    ...rest
  }: WorkloadInput,
): LongRunning {
  const { REDIS_PASSWORD: redisPassword, ...others } = variables
  const isRedis = settings.type === 'REDIS'
  const { port, leastMemory } = databaseTable[settings.type]
  const { ask, stopSignal } = ways[settings.type]
  return {
    ...rest,
    shape: 'long-running',
    image,
    // Redis reads its password from a file, because arguments are visible on the whole machine.
    variables: isRedis ? others : variables,
    files: isRedis ? [...files, { path: redisFile, content: redisConfiguration(redisPassword) }] : files,
    arguments: isRedis ? ['redis-server', redisFile] : [],
    replicas: { min: 1, max: 1 },
    cpuMilli: settings.cpu,
    // With less memory the server does not start. The default may be less: a managed database has
    // 100 MB, whatever its type.
    memoryMiB: Math.max(leastMemory, settings.memory),
    ports: [{ name: 'database', internalPort: port, protocol: 'TCP' }],
    ...(publicPort && {
      publishedPorts: [
        { internalPort: port, protocol: 'TCP', hostAddress: publicPort.address, hostPort: publicPort.port },
      ],
    }),
    probes: { readiness: readiness(askWithExchange(settings.type, ask, variables)) },
    storage: [{ id: service, mountPoint: dataPathOf(settings), sizeGiB: settings.storage }],
    stopSignal,
    stopGraceSeconds,
  }
}

const readiness = (ask: string): Probe => ({
  check: { type: 'exec', command: ['sh', '-c', ask] },
  initialDelaySeconds: 0,
  periodSeconds: 1,
  timeoutSeconds: 10,
  successThreshold: 1,
  failureThreshold: 1,
})

const redisConfiguration = (password: string | Secret | undefined): Secret =>
  new Secret(
    `requirepass ${password instanceof Secret ? password.reveal() : (password ?? '')}\nappendonly yes\ndir /data\n`,
  )
