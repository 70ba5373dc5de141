import type { LongRunning, Release } from '../server/engines/index.ts'
import { newId } from '../server/lib/id.ts'
import { imageName } from '../test/kubernetes/cluster/build.ts'

/** A web server whose image is on the node, so that no image is fetched. */
const workload: LongRunning = {
  shape: 'long-running',
  image: imageName('busybox'),
  entrypoint: ['sh', '-c', 'mkdir /tmp/www && exec httpd -f -p 8080 -h /tmp/www'],
  arguments: [],
  variables: { GREETING: 'hello' },
  files: [],
  replicas: { min: 2, max: 2 },
  cpuMilli: 50,
  memoryMiB: 32,
  aliases: ['web'],
  ports: [{ name: 'web', internalPort: 8080, protocol: 'HTTP' }],
  probes: {},
  storage: [],
  stopGraceSeconds: 1,
  startDeadlineSeconds: 60,
}

/** Returns a release of a new service in a new environment. */
export const benchRelease = (): Release => ({
  id: newId(),
  service: newId(),
  environment: newId(),
  displayName: 'bench',
  workload,
})
